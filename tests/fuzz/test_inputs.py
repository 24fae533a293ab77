"""Inputs of every kind, by the thousand: a result or a sentence, no traceback, no warning.

``PSM_SIM_FUZZ=500000 python -m pytest tests/fuzz`` tries so many; by default they are 4,000.
"""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from psm_sim.cli import main
from psm_sim.learning import make_learner
from psm_sim.losses import check_loss, make_loss
from psm_sim.network import load_topology
from psm_sim.policies.helpers.warm_start import WarmStart
from psm_sim.workload import load_workload, load_workloads, read_page_list
from tests.fuzz import documents
from tests.fuzz.promise import CASES, damaged, fuzz

TIMES_MS = np.array(documents.TIMES_MS)
COMMANDS: tuple[list[str], ...] = (["--pages", "1"], ["replay", "--polls", "20"], ["trace", "info"], [])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the documents."""
    return tmp_path_factory.mktemp("fuzz")


def written(place: Path, name: str, data: bytes) -> Path:
    """Write a document and return its path."""
    path = place / name
    path.write_bytes(data)
    return path


@fuzz(0.25, documents.formulas)
def test_formulas(place: Path, data: bytes) -> None:
    """A loss that gives numbers, or a sentence; no code is run."""
    check_loss(make_loss(data.decode("utf-8", "replace")), TIMES_MS)


@fuzz(0.1, documents.topologies)
def test_topologies(place: Path, data: bytes) -> None:
    """A scenario, or a sentence."""
    load_topology(str(written(place, "t.toml", data)))


@fuzz(0.1, documents.profiles)
def test_profiles(place: Path, data: bytes) -> None:
    """Three pages, or a sentence."""
    load_workload(str(written(place, "p.toml", data)), 3, 1)


@fuzz(0.15, documents.page_lists)
def test_page_lists(place: Path, data: bytes) -> None:
    """Pages, or a sentence."""
    read_page_list(written(place, "p.csv", data))


@fuzz(0.1, documents.har_files)
def test_har_files(place: Path, data: bytes) -> None:
    """Pages, or a sentence."""
    load_workload(str(written(place, "x.har", data)), 5, 1)


@fuzz(0.1, st.one_of(documents.ucb_files, documents.ucb_files, documents.showtrace))
def test_ucb_files(place: Path, data: bytes) -> None:
    """Pages of every client, or a sentence; binary, text and packed."""
    load_workloads(f"{written(place, 'x.tr', data)}:clients=all", 5, 1)


@fuzz(0.08, documents.bu_logs)
def test_bu_logs(place: Path, data: bytes) -> None:
    """Pages of every client, or a sentence."""
    load_workloads(f"{written(place, 'x.log', data)}:clients=all", 5, 1)


@fuzz(0.1, documents.capture_files)
def test_captures(place: Path, data: bytes) -> None:
    """Packets as they came and pages, or a sentence."""
    path = written(place, "x.pcap", data)
    load_workload(f"{path}:stretch_s=1e6", 3, 1)
    load_workload(f"{path}:mode=closed", 3, 1)


@fuzz(0.1, documents.states)
def test_states(place: Path, data: bytes) -> None:
    """A learner that predicts, or a sentence; the file is not changed."""
    path = written(place, "s.json", data)
    learner = make_learner("learn-alpha", 12, 27)
    try:
        WarmStart(str(path)).load(learner, TIMES_MS)
        assert 100 <= learner.predict(TIMES_MS) <= 1200.000001
        learner.update(np.arange(12.0))
    finally:
        assert path.read_bytes() == data


@settings(
    max_examples=max(1, CASES // 50), deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
@given(words=documents.options, command=st.sampled_from(COMMANDS), seed=st.integers(0, 2**32))
def test_options(words: list[str], command: list[str], seed: int) -> None:
    """Status 0, or status 2 with one line that any terminal shows."""
    if seed % 3 == 0:
        words = [
            damaged(word.encode("utf-8", "surrogatepass"), seed).decode("utf-8", "replace") for word in words
        ]
    limit = [] if any(word.startswith("--timeout-s") for word in words) else ["--timeout-s", "20"]
    output, complaint = io.StringIO(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(complaint):
        try:
            status = main([*command, *words, *limit] if command else [*words, "--pages", "1", *limit])
        except SystemExit as ended:  # --help, which a damaged word can become
            status = int(str(ended.code))
    told = complaint.getvalue()
    assert status in (0, 2), told
    assert status == 0 or told.count("\n") == 1, told
    assert "mistake of its own" not in told
    assert all(line.isprintable() for line in (told + output.getvalue()).split("\n"))
