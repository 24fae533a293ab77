"""Long run: the memory of one policy over many pages, and whether the last tenth is as fast as the first.

    python benchmarks/long_run.py [POLICY] [PAGES]

The rate is in pages per second of processor time, of the run with the policy; the run without power
saving comes before it. The memory is the largest of the whole process, with both results.
"""

from __future__ import annotations

import resource
import sys
import time

from psm_sim import simulate
from psm_sim.network import Observer
from psm_sim.network.browser import Visit


class Tenths(Observer):
    """Processor times, in seconds, at the start and at the end of each tenth of the pages."""

    def __init__(self, pages: int) -> None:
        self._every, self._done = pages // 10, 0
        self.ends_s: list[float] = []

    def page(self, visit: Visit) -> None:
        """Count a page."""
        self._done += 1
        if self._done == 1 or self._done % self._every == 0:
            self.ends_s.append(time.process_time())


def main() -> None:
    """Print what was measured."""
    policy = sys.argv[1] if len(sys.argv) > 1 else "bsd"
    pages = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    tenths = Tenths(pages)
    result = simulate(policy, pages=pages, observers=[tenths])
    used_s = [after - before for before, after in zip(tenths.ends_s, tenths.ends_s[1:], strict=False)]
    rates = [pages / 10 / each for each in used_s]
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(f"{policy}, {pages:,} pages, {result.energy_per_page_j:.4f} J per page: {peak_mb:.0f} MB at most")
    print("pages per second, by tenth: " + ", ".join(f"{rate:.0f}" for rate in rates))
    print(f"last tenth / first tenth: {rates[-1] / rates[0]:.3f}")


if __name__ == "__main__":
    main()
