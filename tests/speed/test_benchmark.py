"""The bench: what it measures, what it writes, and what it calls slower. No time is tested."""

from __future__ import annotations

import io
import json

import pytest

from psm_sim.cli import main
from psm_sim.common.errors import InputError
from psm_sim.reporting.terminal.benchmark_table import write
from psm_sim.speed import benchmark as module
from psm_sim.speed.benchmark import Cost, read_benchmarks
from psm_sim.speed.speed_measures import LOOPS, Measure, speed_measures, time_seconds


@pytest.fixture
def two(monkeypatch):
    """Two small measures, and a clock on which each piece of work takes as many seconds as it says."""
    found = [
        Measure("quick", lambda: lambda: 2.0, 2, "event"),
        Measure("slow", lambda: lambda: 9.0, 1, "event"),
    ]
    monkeypatch.setattr(module, "speed_measures", lambda: iter(found))
    monkeypatch.setattr(module, "LOOPS", {"event": (lambda: 10.0, 20, "a loop")})
    monkeypatch.setattr(module, "time_seconds", lambda work: work())


def test_every_measure_has_a_name_of_its_own_and_a_loop_beside_it():
    """Policies, gaps from 1 s to 10,000 s, a round, a poll, two starts."""
    found = list(speed_measures())
    assert len({each.name for each in found}) == len(found) >= 12
    assert all(each.baseline in LOOPS and each.units >= 1 for each in found)
    assert sum("s apart" in each.name for each in found) == 5


def test_compiled_rounds_are_measured_where_numba_is_there(monkeypatch):
    """Beside those of NumPy, with the same work; elsewhere they are left out."""
    rows = {"round of Learn-alpha, compiled, 259 x 12", "poll of a replay, compiled, 259 x 10"}
    for fault, shown in (("", rows), ("No module named 'numba'", set())):
        monkeypatch.setattr("psm_sim.speed.speed_measures.numba_error", lambda fault=fault: fault)
        assert rows & {each.name for each in speed_measures()} == shown


@pytest.mark.parametrize(
    "name",
    [
        "page of psm",
        "page of lpsm, 10000 s apart",
        "round of Learn-alpha, 259 x 12",
        "poll of a replay, 259 x 10",
    ],
)
def test_a_measure_does_the_work_that_it_is_named_after(name):
    """It runs to its end; how long it takes is not looked at."""
    (measure,) = [each for each in speed_measures() if each.name == name]
    assert time_seconds(measure.prepare()) >= 0


def test_a_cost_is_the_time_of_a_unit_over_that_of_the_loop(two):
    """A loop of 0.5 s a unit: 1 s is twice that, 9 s is 18 times."""
    assert module.run_benchmarks(3, {}) == [
        Cost("quick", "event", 2.0, 1e6),
        Cost("slow", "event", 18.0, 9e6),
    ]


def test_more_than_a_tenth_above_what_it_was_is_slower(two, tmp_path, capsys):
    """The exit status is then 1, and the table says which."""
    file = tmp_path / "speed.json"
    assert main(["bench", "--format", "json"]) == 0
    costs = json.loads(capsys.readouterr().out)
    assert costs["costs"]["slow"]["ratio"] == 18.0
    for was, status in ((18.0, 0), (16.5, 0), (16.0, 1)):
        costs["costs"]["slow"]["ratio"] = was
        file.write_text(json.dumps(costs))
        assert read_benchmarks(file) == {"quick": 2.0, "slow": was}
        assert main(["bench", "--against", str(file)]) == status
        assert capsys.readouterr().out.count("  slower") == status


def test_a_file_that_holds_no_costs_is_refused(tmp_path):
    """One that is not there, is no JSON, or is another document."""
    for text in (None, "{", "{}", '{"costs": 1}', '{"costs": {"a": {}}}'):
        file = tmp_path / "speed.json"
        if text is not None:
            file.write_text(text)
        with pytest.raises(InputError, match="--against"):
            read_benchmarks(file)


@pytest.mark.parametrize("repeats", ["0", "1001", "many"])
def test_a_number_of_repeats_out_of_its_range_is_refused(repeats, capsys):
    """Nothing could be the best of none, and of too many none would be soon."""
    assert main(["bench", "--repeats", repeats]) == 2
    assert f"--repeats must be an integer from 1 to 1000, got '{repeats}'" in capsys.readouterr().err


def test_the_table_has_a_line_for_each_measure():
    """The name, the ratio, the loop, the ratio before and the microseconds."""
    stream = io.StringIO()
    write([Cost("page", "event", 300.0, 200.0, 250.0)], stream)
    assert stream.getvalue().splitlines()[1].split() == ["page", "300", "events", "250", "200.0", "slower"]
