"""benchmarks/speed.py: what it measures, what it writes, and what it calls slower. No time is tested."""

from __future__ import annotations

import json
import sys

import pytest

from benchmarks import speed
from benchmarks.speed import LOOPS, Measure, main, speed_measures


@pytest.fixture
def two(monkeypatch):
    """Two small measures, and a clock on which each piece of work takes as many seconds as it returns."""
    found = [
        Measure("quick", lambda: lambda: 2.0, 2, "event"),
        Measure("slow", lambda: lambda: 9.0, 1, "event"),
    ]
    monkeypatch.setattr(speed, "speed_measures", lambda: iter(found))
    monkeypatch.setattr(speed, "LOOPS", {"event": (lambda: 10.0, 20, "a loop")})
    monkeypatch.setattr(speed, "time_seconds", lambda work: work())


@pytest.mark.parametrize(
    "name",
    [
        "page of psm",
        "page of lpsm, 10000 s apart",
        "round of Learn-alpha, 259 x 12",
    ],
)
def test_a_measure_has_a_baseline_loop_and_runs(name):
    """Names are unique, because an earlier result is found by its name."""
    measures = list(speed_measures())
    (measure,) = [each for each in measures if each.name == name]
    assert len({each.name for each in measures}) == len(measures)
    assert measure.baseline in LOOPS
    measure.prepare()()


def test_more_than_a_tenth_above_the_earlier_cost_is_slower(two, tmp_path, monkeypatch, capsys):
    """The exit status is then 1, and the table marks the line."""
    file = tmp_path / "speed.json"
    monkeypatch.setattr(sys, "argv", ["speed.py", "--format", "json"])
    assert main() == 0
    costs = json.loads(capsys.readouterr().out)
    assert costs["costs"]["slow"]["ratio"] == 18.0
    monkeypatch.setattr(sys, "argv", ["speed.py", "--against", str(file)])
    for was, status in ((18.0, 0), (16.5, 0), (16.0, 1)):
        costs["costs"]["slow"]["ratio"] = was
        file.write_text(json.dumps(costs))
        assert main() == status
        assert capsys.readouterr().out.count("  slower") == status
