"""The table for people."""

from __future__ import annotations

import dataclasses
import io
import re
from pathlib import Path

import pytest

from psm_sim.reporting.terminal import comparison as table
from psm_sim.simulation import BASELINES, Comparison, References, Scenario, compare_runs, compare_seeds

HEADS = ["mean", "p50", "p90", "mean", "max"]
"""Of the page time and the slowdown."""


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def written(comparison: Comparison, stream: io.StringIO | None = None) -> str:
    """Return the table as text."""
    stream = stream or io.StringIO()
    table.write(comparison, stream)
    return stream.getvalue()


def test_there_is_a_row_a_policy_in_the_order_given(comparison: Comparison) -> None:
    """Under two lines of headings and a rule."""
    lines = written(comparison).splitlines()
    assert [line.split()[0] for line in lines[3:6]] == ["psm", "bsd:p=0.5,max_sleep_ms=none", "always-on"]
    assert lines[1].split() == ["policy", "J", "J", "J", "J", "heard", *HEADS]
    assert lines[6] == ""


def test_the_numbers_are_those_of_the_result(comparison: Comparison) -> None:
    """Column by column, to the digits shown."""
    lines = written(comparison).splitlines()[3:6]
    for run, line in zip(comparison.runs, lines, strict=True):
        states = run.energy_by_state_per_page_j
        expected = [
            run.energy_per_page_j,
            *(states[state] for state in ("awake", "asleep", "beacons")),
            run.beacons_per_page,
            run.page_time_s.mean,
            *(run.page_time_percentiles_s[name] for name in ("p50", "p90")),
            run.slowdown.mean,
            run.slowdown.max,
        ]
        shown = [float(cell) for cell in line.split()[1:]]
        assert shown == pytest.approx(expected, rel=0.02, abs=0.006)


def test_the_caption_says_what_it_was_measured_on(comparison: Comparison) -> None:
    """Seed, pages, trace, topology, settings, and that the pages are synthetic."""
    scenario = dataclasses.replace(comparison.scenario, settings={"power.awake_w": "1"})
    text = written(dataclasses.replace(comparison, scenario=scenario))
    assert "5 pages of trace ucb, seed 3, topology three-node, power.awake_w=1." in text
    assert "ucb: synthetic pages" in text
    assert "Slowdown is relative to the same page without power saving" in text
    single = dataclasses.replace(comparison.workload, pages=comparison.workload.pages[:1])
    assert "1 page of trace" in "\n".join(table.caption(dataclasses.replace(comparison, workload=single)))


@pytest.mark.parametrize(
    ("file", "settings", "words"),
    [
        ("", {}, "topology phone.toml: three-node."),
        ("[beacon]\ninterval_ms = 50\n", {}, "topology phone.toml: three-node with beacon.interval_ms=50."),
        (
            'extends = "modern"\n[power]\nawake_w = 0.5\n[browser]\npersistent = false\n',
            {"tcp.max_window": "30"},
            "phone.toml: modern with power.awake_w=0.5, browser.persistent=false, tcp.max_window=30.",
        ),
        (
            "[power]\nawake_w = 1\nasleep_w = 0\nbeacon_j = 0\n[beacon]\ninterval_ms = 50\n",
            {},
            "three-node with beacon.interval_ms=50, power.awake_w=1, power.asleep_w=0, and 1 more.",
        ),
    ],
)
def test_the_caption_names_what_differs_from_the_bundled_topology(
    file: str, settings: dict[str, str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three keys at most; a setting stands once, after them."""
    monkeypatch.chdir(tmp_path)
    Path("phone.toml").write_text(file)
    found = compare_runs(["psm"], Scenario(topology="phone.toml", pages=1, settings=settings))
    assert words in "\n".join(table.caption(found))


def test_a_pipe_gets_plain_text(comparison: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    """No colours, no blanks at the ends of lines, whatever the environment says."""
    text = written(comparison)
    assert "\x1b" not in text
    assert all(line == line.rstrip() for line in text.splitlines())
    for name, value in (("COLUMNS", "40"), ("FORCE_COLOR", "1"), ("TERM", "xterm-256color")):
        monkeypatch.setenv(name, value)
    assert written(comparison) == text


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        ([0.0], ["0.000"]),
        ([0.5, 0.0123], ["0.500", "0.012"]),
        ([9.99, 1.0], ["9.990", "1.000"]),
        ([40.704, 3.6], ["40.70", "3.60"]),
        ([545.24, 0.0], ["545.2", "0.0"]),
        ([12345.6], ["12346"]),
    ],
)
def test_the_numbers_of_a_column_have_as_many_decimals(values: list[float], cells: list[str]) -> None:
    """Four digits of the largest, three decimals at most."""
    assert table.align_columns(values) == cells


@pytest.fixture(scope="module")
def stations() -> Comparison:
    """Return a long policy beside the baselines, for readers and a laptop."""
    beside = References(BASELINES, BASELINES[1:])
    policies = ["bsd:p=0.5,max_sleep_ms=none"]
    return compare_runs(policies, Scenario(topology="cafe", pages=1), references=beside)


@pytest.mark.parametrize("width", range(60, 141, 4))
def test_no_number_of_a_station_is_cut(
    width: int, stations: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At any width; columns go instead."""
    wide = set(written(stations).split("\n\n")[0].split())
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    text = re.sub(r"\x1b\[[0-9;]*m", "", written(stations, Terminal()))
    lines = text.split("\n\n")[0].splitlines()
    assert max(map(len, lines)) <= width
    numbers = [cell for line in lines[3:] for cell in line.split() if re.fullmatch(r"-?\d+(\.\d*)?", cell)]
    assert len(numbers) >= 6 * 3
    assert set(numbers) <= wide
    assert set(lines[0].split() + lines[1].split()) <= wide
    rows = [line.split() for line in lines[3:]]
    assert sum("reader" in row for row in rows) == sum("laptop" in row for row in rows) == 3


@pytest.fixture(scope="module")
def replicated() -> Comparison:
    """Return two policies beside the baselines, over three seeds."""
    beside = References(BASELINES, BASELINES[1:])
    policies = ["lpsm:loss=gamma * I * Ti**2 / (2*T) + 1/log(Ti)", "bsd:p=0.5"]
    return compare_seeds(policies, Scenario(pages=3, seed=4), 3, workers=1, references=beside)


@pytest.mark.parametrize("width", [160, 100, 80, 60, 50])
@pytest.mark.parametrize("several", [False, True])
def test_names_and_digits_never_vanish(
    width: int, several: bool, replicated: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Columns go, the least needed first; energy and slowdown stay, and no number is cut."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")  # rich takes a dumb terminal to have 80 columns
    shown = replicated if several else replicated.seeds[0]
    text = re.sub(r"\x1b\[[0-9;]*m", "", written(shown, Terminal()))
    head = [line.rstrip() for line in text.split("\n\n")[0].splitlines()]
    assert max(map(len, head)) <= width
    assert "…" not in text
    for part in ("lpsm:", "loss=gamma * I *", "/log(Ti)", "bsd:", "p=0.5"):
        assert any(part in line for line in head), part
    for value in (lambda run: run.energy_per_page_j, lambda run: run.slowdown.mean):
        assert set(table.align_columns([value(run) for run in shown.shown])) <= set(" ".join(head).split())
    assert {"energy", "slowdown"} <= set(head[0].split())


@pytest.mark.parametrize("width", range(50, 121, 2))
@pytest.mark.parametrize("several", [False, True])
def test_what_a_narrow_table_shows_stands_in_the_wide_one(
    width: int, several: bool, replicated: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No digit and no letter of a heading is cut at any width, and no interval stands without its mean."""
    shown = replicated if several else replicated.seeds[0]
    wide = set(written(shown).split("\n\n")[0].split())
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    text = re.sub(r"\x1b\[[0-9;]*m", "", written(shown, Terminal()))
    lines = text.split("\n\n")[0].splitlines()
    numbers = [cell for line in lines[3:] for cell in line.split() if re.fullmatch(r"-?\d+(\.\d*)?", cell)]
    assert set(numbers) <= wide
    assert set(lines[0].split() + lines[1].split()) <= wide
    assert "seeds seeds" not in " ".join(lines[1].split())


def test_baselines_stand_above_and_are_marked(replicated: Comparison) -> None:
    """A policy that was asked for and is a baseline stands once."""
    rows = [line.split() for line in written(replicated).splitlines()[3:]]
    assert [row[:2] for row in rows[:2]] == [["always-on", "*"], ["psm", "*"]]
    assert rows[2][0].startswith("lpsm")
    assert rows[3][0] == "bsd:p=0.5"
    beside = References(BASELINES, BASELINES[1:])
    found = compare_runs(["psm", "bsd"], Scenario(pages=2), references=beside)
    names = [line.split()[0] for line in written(found).splitlines()[3:6]]
    assert names == ["always-on", "psm", "bsd"]
    assert [run.policy for run in found.runs] == ["psm", "bsd"]


def test_saved_is_the_energy_against_the_reference(replicated: Comparison) -> None:
    """In per cent; the reference saves nothing against itself."""
    lines = written(replicated).splitlines()
    psm, bsd = lines[4].split(), lines[6].split()
    assert "saved" in lines[0].split()
    assert [float(cell) for cell in psm[4:6]] == [0.0, 0.0]
    runs = {run.policy: run for run in replicated.shown}
    pairs = zip(runs["bsd:p=0.5"].results, runs["psm"].results, strict=True)
    saved = [100 * (1 - run.energy_per_page_j / psm.energy_per_page_j) for run, psm in pairs]
    assert float(bsd[3]) == pytest.approx(sum(saved) / 3, abs=0.051)
