"""Own trace: pages made in Python, given to a comparison in place of a trace's name.

The user of this trace reads messages: one small object every few seconds, from a server that takes
30 ms to answer. The same pages can be kept as a page list, a CSV file that --trace reads.

Run it:                python examples/04-own-trace.py
Write its output anew: python examples/04-own-trace.py > examples/04-own-trace.txt
"""

import tempfile
from pathlib import Path

import psm_sim
from psm_sim.workload import Page, Workload, load_workload, write_page_list


def message(think_s: float, size: int) -> Page:
    """Return a page of one object of *size* bytes, asked for after *think_s* seconds."""
    return Page(
        think_s=think_s,
        main_bytes=size,
        image_bytes=(),
        request_bytes=(400,),  # one number per object, the main object first
        server_delay_s=(0.03,),
    )


def main() -> None:
    """Compare policies over forty messages, then write the pages and read them again."""
    pages = tuple(message(think_s=2 + number % 7, size=500 + 250 * (number % 5)) for number in range(40))
    messages = Workload("messages", pages, synthetic=True, remark="messages made up for this example")

    table = psm_sim.compare(["always-on", "psm", "bsd:p=0.5", "lpsm"], trace=messages, baselines=False).frame
    print(f"{'policy':<10}{'J per page':>11}{'slowdown':>10}")
    for row in table.to_dict("records"):
        print(f"{row['policy']:<10}{row['energy_per_page_j']:>11.3f}{row['slowdown.mean']:>10.3f}")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "messages.csv"
        write_page_list(path, pages)
        print()
        print("as a page list:", *path.read_text(encoding="utf-8").splitlines()[:3], sep="\n  ")
        again = load_workload(str(path), pages=len(pages), seed=1)
        print("read again, the pages are the same:", again.pages == pages)


if __name__ == "__main__":
    main()
