"""Create a trace in Python and save it as a page list.

The user of this trace reads messages: one small object every few seconds, from a server that
responds after 30 ms. A page list is a CSV file that --trace reads.

Run:               python examples/04-own-trace.py
Renew the output:  python examples/04-own-trace.py > examples/04-own-trace.txt
"""

import tempfile
from pathlib import Path

import psm_sim
from psm_sim.workload import Page, Workload, load_workload, write_page_list


def message(think_s: float, size: int) -> Page:
    """Return a page of one object of *size* bytes, requested after *think_s* seconds."""
    return Page(
        think_s=think_s,
        main_bytes=size,
        image_bytes=(),
        request_bytes=(400,),  # one number per object, the main object first
        server_delay_s=(0.03,),
    )


def main() -> None:
    """Compare policies over forty messages, then write the pages and read them back."""
    pages = tuple(message(think_s=2 + number % 7, size=500 + 250 * (number % 5)) for number in range(40))
    messages = Workload("messages", pages, synthetic=True, remark="synthetic messages of this example")

    table = psm_sim.compare(["always-on", "psm", "bsd:p=0.5", "lpsm"], trace=messages, baselines=False).frame
    print(f"{'policy':<10}{'J per page':>11}{'slowdown':>10}")
    for row in table.to_dict("records"):
        print(f"{row['policy']:<10}{row['energy_per_page_j']:>11.3f}{row['slowdown.mean']:>10.3f}")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "messages.csv"
        write_page_list(path, pages)
        print()
        print("as a page list:", *path.read_text(encoding="utf-8").splitlines()[:3], sep="\n  ")
        loaded = load_workload(str(path), pages=len(pages), seed=1)
        print("the loaded pages are equal:", loaded.pages == pages)


if __name__ == "__main__":
    main()
