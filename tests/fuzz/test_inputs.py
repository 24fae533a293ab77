"""Damaged inputs of every kind.

Each gives a result or one sentence, without a traceback or a warning. ``PSM_SIM_FUZZ=500000 python -m pytest
tests/fuzz`` tries that number; the default is 1,000.
"""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from psm_sim.cli import main
from psm_sim.common.errors import CommandTerminated, InputError
from psm_sim.common.formatting import one_line_message
from psm_sim.losses import check_loss, make_loss
from psm_sim.network import load_topology
from psm_sim.workload import load_workload, load_workloads, read_page_list
from tests.fuzz.documents import TIMES_MS, damaged, valid_documents

CASES = int(os.environ.get("PSM_SIM_FUZZ", "1000"))
"""Total number of cases."""


def use_formula(path: Path) -> None:
    """Compute the loss, without running code."""
    check_loss(make_loss(path.read_bytes().decode("utf-8", "replace")), np.array(TIMES_MS))


def use_capture(path: Path) -> None:
    """Read the packets of a capture."""
    load_workload(f"{path}:stretch_s=1e6", 3, 1)


def end_command(*_: object) -> None:
    """Handle the alarm."""
    raise CommandTerminated("timed out.", 2)


def use_options(path: Path) -> None:
    """Run the command, and check for status 0, or status 2 with one printable line."""
    words = path.read_bytes().decode("utf-8", "replace").split(" ")
    output, complaint = io.StringIO(), io.StringIO()
    # A damaged number of pages may take too long.
    handler = signal.signal(signal.SIGALRM, end_command)
    signal.alarm(20)
    with redirect_stdout(output), redirect_stderr(complaint):
        try:
            status = main(words)
        except SystemExit as ended:  # a damaged word can become --help
            status = int(str(ended.code))
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, handler)
    message = complaint.getvalue()
    assert status in (0, 2), message
    assert status == 0 or message.count("\n") == 1, message
    assert "mistake of its own" not in message
    assert all(line.isprintable() for line in (message + output.getvalue()).split("\n"))


USES: dict[str, tuple[float, str, Callable[[Path], Any]]] = {
    "formulas": (0.25, "f.txt", use_formula),
    "topologies": (0.1, "t.toml", lambda path: load_topology(str(path))),
    "profiles": (0.1, "p.toml", lambda path: load_workload(str(path), 3, 1)),
    "page lists": (0.13, "p.csv", read_page_list),
    "HAR files": (0.1, "x.har", lambda path: load_workload(str(path), 5, 1)),
    "UCB files": (0.1, "x.tr", lambda path: load_workloads(f"{path}:clients=all", 5, 1)),
    "captures": (0.1, "x.pcap", use_capture),
    "options": (0.02, "words.txt", use_options),
}
"""Share of the cases, name of the file, and function that reads it."""


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[bytes]]:
    """Return valid documents by kind."""
    return valid_documents(tmp_path_factory.mktemp("good"))


@pytest.mark.parametrize("kind", USES)
def test_damaged_input_gives_a_result_or_an_error_of_one_sentence(
    kind: str, documents: dict[str, list[bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pieces are removed, doubled and changed, words and numbers odd, and types and encodings others."""
    monkeypatch.chdir(tmp_path)
    share, name, use = USES[kind]
    for number in range(round(CASES * share)):
        chance = Random(f"{kind} {number}")  # noqa: S311 (repeatable, not secret)
        path = tmp_path / name
        path.write_bytes(damaged(chance.choice(documents[kind]), chance))
        try:
            use(path)
        except InputError as error:
            words = one_line_message(str(error))
            assert len(words) > 10, (number, words)
            assert words.isprintable(), (number, words)
        except Exception as error:
            error.add_note(f"case {number} of {kind}: {path.read_bytes()[:300]!r}")
            raise
