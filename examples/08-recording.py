"""Replay the pages of a HAR file, or sample new pages from it.

A browser saves a HAR file from its network tool ("Save all as HAR"). The file next to this script is
synthetic, so it contains no private data: four pages with twelve objects. A replay loads the pages
in their order with the recorded think times. Sampling generates any number of pages from
distributions that are fitted to the recording.

On the command line:  python -m psm_sim --policy psm --policy lpsm --trace examples/08-synthetic-session.har
Run:                  python examples/08-recording.py
Renew the output:     python examples/08-recording.py > examples/08-recording.txt
"""

from pathlib import Path

import psm_sim
from psm_sim.common.component_spec import Spec
from psm_sim.workload import load_workload

FILE = Path(__file__).with_name("08-synthetic-session.har")
POLICIES = ["always-on", "psm", "lpsm"]


def compare(trace: Spec, pages: int) -> None:
    """Print a description of the pages, and one row per policy."""
    workload = load_workload(trace, pages, seed=1)
    print()
    print(workload.remark)
    print(f"{'policy':<10}{'J per page':>11}{'page time s':>13}{'slowdown':>10}")
    for row in psm_sim.compare(POLICIES, workload, baselines=False).frame.to_dict("records"):
        measures = row["energy_per_page_j"], row["page_time_s.mean"], row["slowdown.mean"]
        print("{:<10}{:>11.3f}{:>13.3f}{:>10.3f}".format(row["policy"], *measures))


def main() -> None:
    """Print the recorded pages, then compare policies on them and on pages sampled from them."""
    recording = Spec(str(FILE))
    for number, page in enumerate(load_workload(recording, pages=10, seed=1).pages, start=1):
        think = f"{page.think_s:5.2f} s of thinking"
        print(f"page {number}: {think}, objects: {page.objects}, bytes: {page.total_bytes}")
    compare(recording, pages=10)
    compare(recording.with_("workload", "sample"), pages=40)


if __name__ == "__main__":
    main()
