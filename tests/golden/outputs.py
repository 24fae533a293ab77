"""Golden outputs: standard output and files of the command line for many kinds of runs.

``python -m tests.golden.outputs`` rewrites them. The commit states why they have changed.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psm_sim
from psm_sim.commands import run as command
from psm_sim.reporting.files import result_csv, result_json
from psm_sim.reporting.terminal import comparison as terminal
from psm_sim.simulation import run_comparison

TABLES = Path(__file__).with_name("outputs.txt")
DIGESTS = Path(__file__).with_name("outputs.json")

CASES = (
    "--policy lpsm --pages 5",
    "--policy lpsm --pages 1",
    "--policy psm --no-baselines --pages 5",
    "--policy bsd --policy lpsm --policy anticipate --pages 5 --replications 5",
    "--policy bsd --policy lpsm --pages 5 --replications 10",
    "--policy lpsm --policy anticipate --trace modern --pages 2",
    "--policy lpsm --policy psm:listen_interval=3 --trace mqtt:stretch_s=310 --pages 1 --profile nrf7002",
    "--policy lpsm --trace mqtt:stretch_s=310 --pages 1 --replications 3 --latency 300ms",
    "--policy lpsm --policy psm --trace push:stretch_s=310 --pages 2 --profile esp32-c6 --battery 9Ah",
    "--policy lpsm --policy bsd --trace table_s.tr.gz:clients=3 --pages 3",
    "--policy lpsm --policy bsd --topology cafe --pages 2",
    "--policy lpsm --topology cafe --pages 1 --replications 3",
    "--policy lpsm --policy lpsm:label=mine --pages 5 --no-baselines --against bsd",
    "--policy lpsm --policy bsd --policy psm --pages 5 --latency 100ms --replications 4",
    "--policy lpsm --policy bsd --pages 10 --set faults.wireless.loss=0.3 --replications 2",
    "--policy psm --pages 5 --replications 3 --set power.transmit_w=1.2 --set power.wake_j=0.001",
    "--policy always-on --policy lpsm --trace phone --pages 2 --preset household",
    "--policy lpsm --trace idle:stretch_s=310 --pages 2",
    "--policy lpsm --trace recorded.har.gz",
    "--policy always-on:label=awake --policy psm --pages 4",
    "--policy twt --policy dynamic --policy psm --pages 3 --topology modern",
    "--policy lpsm --policy psm --topology own.toml --pages 2 --replications 2",
    "--policy lpsm --policy psm --topology own.toml --pages 2",
    "--policy lpsm --policy psm --pages 20 --set browser.max_page_s=1.5 --replications 2",
    "--policy lpsm --policy psm --pages 20 --set browser.max_page_s=1.5",
    "--policy lpsm --topology own.toml --pages 4 --set browser.max_page_s=1 --replications 2",
    "--policy lpsm --topology own.toml --pages 4 --set browser.max_page_s=1",
    "--policy lpsm --pages 3 --set browser.max_page_s=0.05",
)
OWN = """extends = "three-node"
mac.model = "dcf"
[[stations]]
name = "laptop"
count = 2
[[stations]]
name = "phone"
policy = "bsd"
pages = 3
[[stations]]
name = "sensor"
trace = "mqtt:stretch_s=310"
profile = "nrf7002"
pages = 1
"""
_WALL = re.compile(r'("wall_s": ?)[-+e.\d]+')
_NUMBER = re.compile(r"-?\d+(?:\.\d+(?:e[-+]?\d+)?|e[-+]?\d+)")
_DIGITS, _NOISE = 6, 1e-12
"""Significant digits of a number, and the largest number that is rounded to 0. Other processors and other
versions of scipy, whose quantiles have nine equal digits, may change the rest."""


def write_inputs(folder: Path) -> None:
    """Write the files that the cases name."""
    from tests.workload.recordings.ucb_files import write_sampled

    write_sampled(folder / "table_s.tr.gz", 6000, clients=5)
    (folder / "own.toml").write_text(OWN)
    root = Path(psm_sim.__file__).parents[1]
    shutil.copyfile(root / "traces" / "recorded.har.gz", folder / "recorded.har.gz")


def outputs(case: str) -> dict[str, str]:
    """Return the table, the JSON, the CSV and the table of pages of a command line."""
    argv = case.split()
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    arguments = parser.parse_args(argv)
    arguments.argv = argv
    policies, scenario, references, preset = command.parse(arguments)
    comparison = run_comparison(
        policies, scenario, arguments.replications or 1, workers=1, references=references
    )
    comparison = replace(comparison, max_latency_s=arguments.latency, preset=preset)
    writers: dict[str, Callable[[io.StringIO], None]] = {
        "table": lambda stream: terminal.write(comparison, stream),
        "json": lambda stream: result_json.write(comparison, stream),
        "csv": lambda stream: result_csv.write(comparison, stream),
        "pages": lambda stream: result_csv.write_pages(comparison, stream),
    }
    return {name: _text(write) for name, write in writers.items()}


def _text(write: Callable[[io.StringIO], None]) -> str:
    stream = io.StringIO()
    write(stream)
    return _WALL.sub(r"\1T", stream.getvalue())


def digest(text: str) -> str:
    """Return a hash of a text, with numbers rounded."""
    text = _NUMBER.sub(lambda match: _rounded(float(match[0])), text)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _rounded(number: float) -> str:
    return f"{number:.{_DIGITS}g}" if abs(number) > _NOISE else "0"


def tables() -> dict[str, str]:
    """Return the stored tables by command line."""
    entries = TABLES.read_text(encoding="utf-8").split("$ psm_sim ")[1:]
    return {case: text for entry in entries for case, _, text in [entry.partition("\n")]}


def write() -> None:
    """Write the outputs of all cases."""
    texts_by_case = {case: outputs(case) for case in CASES}
    tables_text = "".join(f"$ psm_sim {case}\n{texts.pop('table')}" for case, texts in texts_by_case.items())
    digests = {
        case: {name: digest(text) for name, text in texts.items()} for case, texts in texts_by_case.items()
    }
    TABLES.write_text(tables_text, encoding="utf-8")
    DIGESTS.write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    import os
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        write_inputs(Path(name))
        write()
        os.chdir("/")
