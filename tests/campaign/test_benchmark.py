"""Benchmark of policies: costs in the cells, result files, ranking, and the stored results."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from psm_sim.campaign.benchmark import cells, ranking, run
from psm_sim.campaign.benchmark import result as result_module
from psm_sim.campaign.benchmark.cells import (
    CELLS,
    JUDGING_SEEDS,
    PRICE,
    PRICES_W,
    RECORDED,
    Cell,
)
from psm_sim.campaign.benchmark.ranking import MIN_DIFFERENCE, mean_scores, rank
from psm_sim.campaign.benchmark.result import (
    ALWAYS_ON,
    STANDING,
    BenchmarkResult,
    Costs,
    read_result,
    to_json,
)
from psm_sim.campaign.benchmark.run import MISSING_S, _delay_s, run_benchmark
from psm_sim.campaign.sweep.run import Resources
from psm_sim.campaign.sweep.table import Row
from psm_sim.common.errors import InputError

ONE_WORKER = Resources(1)
TOLD = f"stpm:delay_w={PRICE}"


FEW = tuple(cell for cell in CELLS if cell.radio == "nrf7002" and cell.traffic in ("ucb", RECORDED, "push"))


@pytest.fixture
def short(monkeypatch):
    """Reduce the benchmark to a few cells with one page each."""
    for module in (cells, ranking, result_module, run):
        monkeypatch.setattr(module, "CELLS", FEW)
    for traffic in cells.TRAFFIC:
        monkeypatch.setitem(cells.TRAFFIC, traffic, 1)


def made(*levels: float, noise: float = 0.0, seeds: int = 4) -> BenchmarkResult:
    """Return a result in which policy k costs levels[k] times the optimum in all cells; psm is the first."""
    random, names = np.random.default_rng(1), ["psm", *(f"bsd:p=0.{k}" for k in range(1, len(levels)))]

    def costs(level: float) -> Costs:
        energy_j = level * np.exp(noise * random.standard_normal(seeds))
        return Costs(tuple(map(float, energy_j)), (0.0,) * seeds)

    runs = {
        name: {cell: costs(level) for cell in cells.runs_of(name)}
        for name, level in zip(names, levels, strict=True)
    }
    return BenchmarkResult(tuple(range(seeds)), runs, dict.fromkeys(CELLS, (1.0,) * seeds), {}, {}, {})


def test_a_run_has_the_costs_of_each_cell_and_a_file_keeps_every_bit(short, tmp_path):
    """An always-on radio causes no delay. Only a policy that is told the price runs once per price."""
    result = run_benchmark(["psm", TOLD], (1, 2), resources=ONE_WORKER)
    assert result.policies == [ALWAYS_ON, "psm", TOLD]
    assert len(result.runs["psm"]) * len(PRICES_W) == len(result.runs[TOLD]) == len(FEW)
    assert all(costs.delay_s == (0.0, 0.0) for costs in result.runs[ALWAYS_ON].values())
    cell = FEW[-1]
    energy_j, delay_s = map(np.array, result.costs("psm", cell))
    assert result.cost_j("psm", cell) == pytest.approx(energy_j + cell.price_w * delay_s)
    assert result.log_ratios().shape == (3, len(FEW), 2)
    assert np.isfinite(result.log_ratios()).all()
    file = tmp_path / "result.json"
    file.write_text(to_json(result))
    again = read_result(file)
    assert again == result
    assert again.differing_facts(result) == again.differing_cells(result) == []
    repeated = run_benchmark(["psm"], (1, 2), resources=ONE_WORKER, known=result)
    assert result.differing_cells(repeated) == []
    assert result.first(1).costs("psm", cell).energy_j == result.costs("psm", cell).energy_j[:1]


def test_a_difference_of_one_bit_is_found():
    result = made(1.0, 2.0)
    cell = next(cells.runs_of("psm"))
    energy_j, delay_s = result.runs["psm"][cell]
    changed = {
        **result.runs["psm"],
        cell: Costs((float(np.nextafter(energy_j[0], 2)), *energy_j[1:]), delay_s),
    }
    optimum_j = {**result.optimum_j, CELLS[3]: (2.0,) * 4}
    other = replace(
        result, runs={**result.runs, "psm": changed}, optimum_j=optimum_j, versions={"numpy": "1"}
    )
    assert result.differing_cells(other) == [("psm", cell), ("offline optimum", CELLS[3])]
    assert replace(result, versions={"numpy": "2"}).differing_facts(other) == ["numpy (2 and 1)"]


def test_messages_that_never_arrive_count_as_delay():
    """Only messages beyond those that can be on their way at the end count."""
    measures = {
        "latency.down.sent": 100, "latency.down.delivered": 90, "latency.down.latency_s.mean": 0.5,
        "latency.up.sent": 1, "latency.up.delivered": 0, "latency.up.latency_s.mean": None,
    }  # fmt: skip
    row = Row.__new__(Row)
    object.__setattr__(row, "measures", measures)
    assert _delay_s(row) == pytest.approx(45 + MISSING_S * 8)


def test_a_policy_that_fails_is_an_error(short, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from psm_sim.policies import Policy\n"
        "class Mine(Policy):\n"
        "    name = 'mine'\n"
        "    def rest(self, now_s, since_uplink_s, poll):\n"
        "        raise RuntimeError('no') if now_s > 1 else ValueError\n"
    )
    with pytest.raises(InputError):
        run_benchmark([f"{file}:Mine"], (1,), resources=ONE_WORKER)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"seeds": [1], "runs": [], "optimum": []}',
        to_json(made(1.0)).replace('"psm"', "3", 1),
    ],
    ids=["empty", "no keys", "list", "no optimum", "policies differ"],
)
def test_a_file_that_is_no_result_is_refused(tmp_path, text):
    file = tmp_path / "result.json"
    file.write_text(text)
    with pytest.raises(InputError, match="no complete result"):
        read_result(file)
    with pytest.raises(InputError, match="cannot be read"):
        read_result(tmp_path / "missing.json")


def test_policies_are_ranked_by_the_geometric_mean():
    standings = rank(made(4.0, 2.0, 8.0, noise=1e-4))
    assert [each.rank for each in standings] == [1, 2, 3]
    assert [round(each.score, 2) for each in standings] == [2.0, 4.0, 8.0]
    assert [each.best for each in standings] == [len(CELLS), 0, 0]
    assert [each.worse for each in standings] == [0, 0, len(CELLS)]
    assert [round(each.worst, 2) for each in standings] == [1.0, 2.0, 4.0]
    assert all(each.low <= each.score <= each.high for each in standings)


@pytest.mark.parametrize("seeds", [1, 4])
def test_policies_that_do_not_differ_share_a_rank(seeds):
    """Neither by less than the minimum difference, nor by noise."""
    close = rank(made(2.0, 2.0 * (1 + MIN_DIFFERENCE / 2), 4.0, seeds=seeds, noise=1e-6))
    assert [each.rank for each in close] == [1, 1, 3]
    assert close[1].best == len(CELLS)
    assert [each.rank for each in rank(made(2.0, 2.3, noise=1.0))] == [1, 1]


def test_the_order_does_not_depend_on_the_optimum():
    """The optimum changes all scores by the same factor."""
    result = made(4.0, 2.0, 3.0, noise=0.01)
    other = replace(result, optimum_j=dict.fromkeys(CELLS, (5.0,) * 4))
    ratios = [a.score / b.score for a, b in zip(rank(result), rank(other), strict=True)]
    assert ratios == pytest.approx([5.0] * 3)
    assert [each.policy for each in rank(result)] == [each.policy for each in rank(other)]


@pytest.mark.parametrize("field", Cell._fields)
def test_scores_by_traffic_radio_and_price(field):
    scores = mean_scores(made(4.0, 2.0), field)
    assert scores["psm"] == pytest.approx(dict.fromkeys(scores["psm"], 4.0))


SAMPLE = tuple(cell for cell in CELLS if cell[:2] in [("ucb", "three-node"), ("push", "nrf7002")])


def test_the_stored_results_are_those_of_this_version(monkeypatch):
    """All built-in policies in a sample of the cells, for one seed.

    If a change of the results is intended, write the stored results again (docs/benchmark.md).
    """
    stored = read_result(STANDING)
    assert stored.seeds == tuple(JUDGING_SEEDS)
    assert stored.data == cells.data_digests()
    assert set(stored.policies) == set(cells.built_in())
    monkeypatch.setattr(cells, "CELLS", SAMPLE)
    found = run_benchmark(cells.built_in(), stored.seeds[:1], resources=ONE_WORKER, known=stored.first(1))
    for policy, runs in found.runs.items():
        for cell, costs in runs.items():
            for measured, known in zip(costs, stored.first(1).costs(policy, cell), strict=True):
                assert measured == pytest.approx(known, rel=1e-9), (policy, cell)
