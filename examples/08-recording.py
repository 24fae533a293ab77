"""Recording: the pages of a HAR file, replayed in their order or sampled from.

A browser saves a HAR file from its network tool ("Save all as HAR"). The one beside this script is
made up, so that it is small and nobody's: four pages with twelve objects. Replayed, its pages come
in their order with the recorded think times. Sampled, any number of pages is drawn from
distributions that are fitted to the recording.

From the command line: python -m psm_sim --policy psm --policy lpsm --trace examples/08-made-up-session.har
Run it:                python examples/08-recording.py
Write its output anew: python examples/08-recording.py > examples/08-recording.txt
"""

from pathlib import Path

import psm_sim
from psm_sim.common.component_spec import Spec
from psm_sim.workload import load_workload

FILE = Path(__file__).with_name("08-made-up-session.har")
POLICIES = ["always-on", "psm", "lpsm"]


def compare(trace: Spec, pages: int) -> None:
    """Say what the pages are, and print one row per policy."""
    workload = load_workload(trace, pages, seed=1)
    print()
    print(workload.remark)
    print(f"{'policy':<10}{'J per page':>11}{'page time s':>13}{'slowdown':>10}")
    for row in psm_sim.compare(POLICIES, workload, baselines=False).frame.to_dict("records"):
        measures = row["energy_per_page_j"], row["page_time_s.mean"], row["slowdown.mean"]
        print("{:<10}{:>11.3f}{:>13.3f}{:>10.3f}".format(row["policy"], *measures))


def main() -> None:
    """Show the recorded pages, then compare policies over them and over pages sampled from them."""
    recording = Spec(str(FILE))
    for number, page in enumerate(load_workload(recording, pages=10, seed=1).pages, start=1):
        facts = f"{page.think_s:5.2f} s of thinking, objects: {page.objects}, bytes: {page.total_bytes}"
        print(f"page {number}: {facts}")
    compare(recording, pages=10)
    compare(recording.with_("workload", "sample"), pages=40)


if __name__ == "__main__":
    main()
