"""Writes the outputs and pictures of docs/devices.md anew: ``python benchmarks/device_page.py``."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from psm_sim.cli import main
from psm_sim.reporting.figures.canvas import new_figure, save_figure
from psm_sim.reporting.style import policy_style

PAGE = Path(__file__).resolve().parents[1] / "docs" / "devices.md"
BLOCK = re.compile(r"(<!-- the table of results -->\n```sh\n)(.*?)(```\n\n```text\n)(.*?)(```)", re.DOTALL)


def printed(words: list[str]) -> str:
    """Return what a command prints."""
    stream = io.StringIO()
    with redirect_stdout(stream):
        main(words)
    return stream.getvalue()


def latency(run: dict[str, Any]) -> str:
    """Return median and 99th percentile of the latency of the way delayed most as text."""
    ways = [way for way in run.get("latency", {}).values() if way["latency_s"]["p50"] is not None]
    if not ways:
        return "nothing arrives"
    worst = max(ways, key=lambda way: way["latency_s"]["mean"])["latency_s"]
    return f"latency {1000 * worst['p50']:.0f} ms, 99th percentile {1000 * worst['p99']:.0f} ms"


def picture(words: list[str], number: int) -> None:
    """Draw the mean current of each policy as a bar, with its latency behind it."""
    runs = json.loads(printed([*words, "--format", "json"]))["runs"]
    figure, (axes,) = new_figure(1, 1, 6.4, 0.7 + 0.35 * len(runs))
    names = [run.get("label", run["policy"]) for run in runs]
    currents = [run["mean_current_ma"] for run in runs]
    axes.barh(names, currents, color=[policy_style(run["policy"]).colour for run in runs])
    for place, run in enumerate(runs):
        axes.annotate(
            latency(run),
            (currents[place], place),
            (4, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
        )
    axes.invert_yaxis()
    axes.set_xlim(0, 1.6 * max(currents))
    axes.set_xlabel("mean current (mA)", fontsize=8)
    axes.tick_params(labelsize=7)
    target = PAGE.parent / "pictures" / f"devices-{number}"
    save_figure(figure, target, {"policy": names, "mean_current_ma": currents}, ["svg"])


def write() -> None:
    """Run every command of the page, and put what it prints and its picture into place."""
    os.environ["COLUMNS"] = "100"
    text, numbers = PAGE.read_text(encoding="utf-8"), iter(range(1, 100))

    def anew(found: re.Match[str]) -> str:
        words = shlex.split(found[2].replace("\\\n", " "))[3:]
        picture(words, next(numbers))
        return f"{found[1]}{found[2]}{found[3]}{printed(words).strip(chr(10))}\n{found[5]}"

    PAGE.write_text(BLOCK.sub(anew, text), encoding="utf-8")


if __name__ == "__main__":
    write()
