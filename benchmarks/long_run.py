"""Long run: the memory of one policy over many pages, and whether the last tenth is as fast as the first.

    python benchmarks/long_run.py [POLICY] [PAGES, some thousands]

The rate is in pages per second of processor time, of the run with the policy; the run without power
saving comes before it. Forty times in each tenth a loop of bare SimPy is timed beside the pages, so that a
page's cost is also given in events: on a machine with other work that is the fairer measure. The
memory is the largest of the whole process, with both results.
"""

from __future__ import annotations

import resource
import sys
import time

from benchmarks.simpy_baseline import run_timeouts
from psm_sim import simulate
from psm_sim.network import Observer
from psm_sim.network.browser import Visit

PARTS, EVENTS = 40, 4_000
"""Parts of a tenth, and bare events that are timed after each."""


class Tenths(Observer):
    """Processor times, in seconds, of the pages and of the bare events beside them, in each tenth."""

    def __init__(self, pages: int) -> None:
        self._every, self._done, self._since_s = pages // (10 * PARTS), 0, 0.0
        self.pages_s, self.events_s = [0.0] * 10, [0.0] * 10

    def page(self, visit: Visit) -> None:
        """Count a page, and time the loop now and then."""
        if self._done and self._done % self._every == 0:
            tenth, ended_s = (self._done // self._every - 1) // PARTS, time.process_time()
            run_timeouts(EVENTS)
            now_s = time.process_time()
            self.pages_s[tenth] += ended_s - self._since_s
            self.events_s[tenth] += now_s - ended_s
            self._since_s = now_s
        elif not self._done:
            self._since_s = time.process_time()
        self._done += 1

    def finish(self, time_s: float) -> None:
        """Count the last part, which one page less has than the others."""
        self.pages_s[-1] += time.process_time() - self._since_s


def main() -> None:
    """Print what was measured."""
    policy = sys.argv[1] if len(sys.argv) > 1 else "bsd"
    pages = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    tenths = Tenths(pages)
    result = simulate(policy, pages=pages, observers=[tenths])
    rates = [pages / 10 / each for each in tenths.pages_s]
    timed = [PARTS] * 9 + [PARTS - 1]
    event_s = [used / EVENTS / parts for used, parts in zip(tenths.events_s, timed, strict=True)]
    costs = [1 / rate / each for rate, each in zip(rates, event_s, strict=True)]
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(f"{policy}, {pages:,} pages, {result.energy_per_page_j:.4f} J per page: {peak_mb:.0f} MB at most")
    print("pages per second, by tenth: " + ", ".join(f"{rate:.0f}" for rate in rates))
    print("events per page, by tenth: " + ", ".join(f"{cost:.0f}" for cost in costs))
    print(f"last tenth / first tenth: {rates[-1] / rates[0]:.3f}, in events {costs[0] / costs[-1]:.3f}")


if __name__ == "__main__":
    main()
