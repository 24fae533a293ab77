"""Benchmark of policies: costs per case, result files, ranking, and stored results."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from psm_sim.campaign.benchmark import cases
from psm_sim.campaign.benchmark.cases import (
    JUDGING,
    PRICE,
    PRICE_W,
    PRICES,
    TRAFFIC,
    BenchmarkPlan,
    Case,
    policy_of,
    radio_power,
    read_plan,
    runs_of,
)
from psm_sim.campaign.benchmark.ranking import (
    first_ranks,
    policies_of,
    rank,
    share_of_same_order,
)
from psm_sim.campaign.benchmark.result import (
    ALWAYS_ON,
    STANDING,
    BenchmarkResult,
    Costs,
    read_result,
    to_json,
)
from psm_sim.campaign.benchmark.run import MISSING_S, _delay_s, run_benchmark
from psm_sim.campaign.sweep.table import TaskRow
from psm_sim.common.errors import InputError
from psm_sim.common.summary_stats import MIN_DIFFERENCE

PRICED = f"stpm:delay_w={PRICE_W}"
SHORT = {name: TRAFFIC[name]._replace(pages=1) for name in ("ucb", "recorded", "push")}
FEW = BenchmarkPlan((1, 2), SHORT, ("nrf7002",))
CASES = JUDGING.cases


def result_with(*levels: float, noise: float = 0.0, seeds: int = 4) -> BenchmarkResult:
    """Return a result in which policy k costs levels[k] times the optimum in all cases; psm is the first."""
    random, names = np.random.default_rng(1), ["psm", *(f"bsd:p=0.{k}" for k in range(1, len(levels)))]

    def costs(level: float) -> Costs:
        energy_j = level * np.exp(noise * random.standard_normal(seeds))
        return Costs(tuple(map(float, energy_j)), (0.0,) * seeds, (1.0,) * seeds)

    runs = {
        name: {case: costs(level) for case in runs_of(name, CASES)}
        for name, level in zip(names, levels, strict=True)
    }
    return BenchmarkResult(tuple(range(seeds)), runs, dict.fromkeys(CASES, (1.0,) * seeds), {}, {}, {})


def test_a_benchmark_run_has_the_costs_of_each_case_and_its_file_stores_every_bit(tmp_path):
    """An always-on radio causes no delay. A policy without a price runs once for all prices."""
    result = run_benchmark(["psm", PRICED], FEW, workers=1)
    assert result.policies == [ALWAYS_ON, "psm", PRICED]
    assert len(result.runs["psm"]) * len(PRICES) == len(result.runs[PRICED]) == len(FEW.cases)
    assert all(costs.delay_s == (0.0, 0.0) for costs in result.runs[ALWAYS_ON].values())
    case = FEW.cases[-1]
    energy_j, delay_s, time_s = map(np.array, result.costs("psm", case))
    assert result.cost_j("psm", case) == pytest.approx(energy_j + case.price_w * delay_s)
    assert time_s == pytest.approx(3600, rel=0.01)
    assert result.log_costs(result.policies).shape == (3, len(FEW.cases), 2)
    assert (result.log_costs(result.policies) >= result.log_best_known()).all()
    file = tmp_path / "result.json"
    file.write_text(to_json(result))
    again = read_result(file)
    assert again == result
    assert again.differing_facts(result) == again.differing_cases(result) == []
    repeated = run_benchmark(["psm"], FEW, workers=1, known=result)
    assert result.differing_cases(repeated) == []
    assert result.part((1,)).costs("psm", case).energy_j == result.costs("psm", case).energy_j[:1]


def test_a_difference_of_two_billionths_is_detected():
    result = result_with(1.0, 2.0)
    case = CASES[0]
    energy_j, *others = result.runs["psm"][case]
    changed = {
        **result.runs["psm"],
        case: Costs(((1 + 2e-9) * energy_j[0], *energy_j[1:]), *others),
    }
    chain_j = {**result.chain_j, CASES[3]: (2.0,) * 4}
    other = replace(result, runs={**result.runs, "psm": changed}, chain_j=chain_j, versions={"numpy": "1"})
    assert result.differing_cases(other) == [("psm", case), ("offline optimum", CASES[3])]
    assert replace(result, versions={"numpy": "2"}).differing_facts(other) == ["numpy (2 and 1)"]


def test_messages_that_never_arrive_are_counted_as_delayed():
    """Messages that may be in transit at the end do not count."""
    measures = {
        "latency.down.sent": 100, "latency.down.delivered": 90, "latency.down.latency_s.mean": 0.5,
        "latency.up.sent": 1, "latency.up.delivered": 0, "latency.up.latency_s.mean": None,
    }  # fmt: skip
    row = TaskRow.__new__(TaskRow)
    object.__setattr__(row, "measures", measures)
    assert _delay_s(row) == pytest.approx(45 + MISSING_S * 8)


def test_a_policy_that_fails_is_an_error(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from psm_sim.policies import Policy\n"
        "class Mine(Policy):\n"
        "    name = 'mine'\n"
        "    def rest(self, now_s, since_uplink_s, poll):\n"
        "        raise RuntimeError('no') if now_s > 1 else ValueError\n"
    )
    with pytest.raises(InputError):
        run_benchmark([f"{file}:Mine"], FEW, workers=1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"seeds": [1], "runs": [], "optimum": []}',
        to_json(result_with(1.0)).replace('"psm"', "3", 1),
    ],
    ids=["empty", "no keys", "list", "no optimum", "policies differ"],
)
def test_the_error_for_an_invalid_result_file_has_the_file_name(tmp_path, text):
    file = tmp_path / "result.json"
    file.write_text(text)
    with pytest.raises(InputError, match="no complete result"):
        read_result(file)
    with pytest.raises(InputError, match="cannot be read"):
        read_result(tmp_path / "missing.json")


def test_policies_are_ranked_by_the_geometric_mean():
    standings = rank(result_with(4.0, 2.0, 8.0, noise=1e-4))
    assert [row.rank for row in standings] == [1, 2, 3]
    assert [round(row.score, 2) for row in standings] == [2.0, 4.0, 8.0]
    assert [round(row.behind_low, 2) for row in standings] == [1.0, 2.0, 4.0]
    assert [row.best for row in standings] == [len(CASES), 0, 0]
    assert [row.worse for row in standings] == [0, 0, len(CASES)]
    assert [round(row.worst, 2) for row in standings] == [1.0, 2.0, 4.0]
    assert all(row.low <= row.score <= row.high for row in standings)


@pytest.mark.parametrize("seeds", [1, 4])
def test_policies_that_do_not_differ_share_a_rank(seeds):
    """A difference is below the minimum difference, or is noise."""
    close = rank(result_with(2.0, 2.0 * (1 + MIN_DIFFERENCE / 2), 4.0, seeds=seeds, noise=1e-6))
    assert [row.rank for row in close] == [1, 1, 3]
    assert close[1].best == len(CASES)
    assert [row.rank for row in rank(result_with(2.0, 2.1, noise=3.0))] == [1, 1]


def test_the_order_of_policies_does_not_depend_on_the_optimum():
    """The optimum changes all scores by the same factor. A policy below the optimum replaces it."""
    result = result_with(4.0, 2.0, 3.0, noise=0.01)
    other = replace(result, chain_j=dict.fromkeys(CASES, (0.2,) * 4))
    ratios = [b.score / a.score for a, b in zip(rank(result), rank(other), strict=True)]
    assert ratios == pytest.approx([5.0] * 3)
    above = replace(result, chain_j=dict.fromkeys(CASES, (5.0,) * 4))
    assert rank(above)[0].score == pytest.approx(1.0)
    assert [row.policy for row in rank(result)] == [row.policy for row in rank(other)]


def test_which_policy_ranks_first_can_depend_on_the_measure():
    """The first policy is best in most cases, and fails in one kind of traffic."""
    result = result_with(2.0, 1.0)
    assert set(map(tuple, first_ranks(result, result.policies).values())) == {("bsd:p=0.1", "psm")}
    assert share_of_same_order(result, result.policies) == 1
    failed = {
        case: costs._replace(energy_j=(100.0,) * 4) if case.traffic == "ping" else costs
        for case, costs in result.runs["bsd:p=0.1"].items()
    }
    other = replace(result, runs={**result.runs, "bsd:p=0.1": failed})
    first = {measure: names[0] for measure, names in first_ranks(other, other.policies).items()}
    assert first["score"] == first["pages only"] == "bsd:p=0.1"
    assert first["arithmetic mean"] == first["worst case"] == "psm"
    assert share_of_same_order(other, other.policies) < 1


def test_the_listed_policies_depend_on_whether_delay_has_a_price():
    result = result_with(1.0, 2.0)
    priced = f"anticipate:price={PRICE}"
    runs = {**result.runs, "anticipate": {}, priced: {}, "mine.py:Mine": {}, f"mine.py:Mine:a={PRICE}": {}}
    other = replace(result, runs=runs)
    both = ["psm", "bsd:p=0.1"]
    assert policies_of(other, priced=True) == [*both, priced, "mine.py:Mine", f"mine.py:Mine:a={PRICE}"]
    assert policies_of(other, priced=False) == [*both, "anticipate", "mine.py:Mine"]


def test_the_price_of_delay_is_a_multiple_of_the_difference_between_awake_and_asleep_power():
    """A second of delay at price 1 costs as much as a second awake instead of asleep."""
    power, case = radio_power("nrf7002"), Case("ucb", "nrf7002", 10.0)
    assert case.price_w == pytest.approx(10 * (power.awake_w - power.asleep_w))
    assert float(policy_of(PRICED, case).values["delay_w"]) == pytest.approx(case.price_w)
    assert policy_of(f"stpm:delay_w={PRICE}", case).values["delay_w"] == "10"


def test_a_seed_file_adds_its_recordings_to_the_benchmark(tmp_path):
    file = tmp_path / "hidden.toml"
    file.write_text('seeds = [5, 6]\n[recordings]\n"office.har" = 4\n')
    plan = read_plan(file)
    assert plan.seeds == (5, 6)
    assert plan.traffic["office.har"].pages == 4
    assert plan.scenario_of(Case("office.har", "nrf7002", 1.0), 5).trace_name == str(tmp_path / "office.har")
    assert len(plan.cases) == len(CASES) + 12


@pytest.mark.parametrize("text", ["", "seeds = []", "seeds = 3", "seeds = ['a']", "seeds = [1]\nmore = 2"])
def test_a_file_without_seeds_is_an_error(tmp_path, text):
    file = tmp_path / "hidden.toml"
    file.write_text(text)
    with pytest.raises(InputError, match="no file of seeds"):
        read_plan(file)


SAMPLE = BenchmarkPlan(
    JUDGING.seeds[:1],
    {name: TRAFFIC[name] for name in ("ucb", "push", "mqtt-sensor")},
    ("nrf7002",),
)


def check_stored(stored: BenchmarkResult, policies: list[str]) -> None:
    """Compare the stored costs of a sample of cases, for one seed, with a new run."""
    sample = stored.part(SAMPLE.seeds, SAMPLE.cases)
    result = run_benchmark(policies, SAMPLE, workers=1, known=sample)
    for policy, runs in result.runs.items():
        for case, costs in runs.items():
            for measured, expected in zip(costs, sample.costs(policy, case), strict=True):
                assert measured == pytest.approx(expected, rel=1e-9), (policy, case)


def test_the_stored_results_agree_with_this_version():
    """An intended change of results requires new stored ones (docs/benchmark.md)."""
    stored = read_result(STANDING)
    assert stored.seeds == JUDGING.seeds
    assert stored.data == JUDGING.data_digests()
    assert set(stored.policies) == set(cases.built_in())
    check_stored(stored, cases.built_in())


@pytest.mark.parametrize("traffic", ["ucb", "shifting", "modern", "mqtt", "ping", "push"])
def test_anticipate_costs_more_energy_and_less_delay_at_a_higher_price(traffic):
    """Means over the judging seeds are compared for each radio (docs/anticipate.md)."""
    runs = read_result(STANDING).runs[cases.PRICED["anticipate"]]
    for radio in cases.RADIOS:
        costs = [runs[Case(traffic, radio, price)] for price in PRICES]
        energies_j, delays_s = ([np.mean(pair[column]) for pair in costs] for column in (0, 1))
        assert (np.diff(energies_j) > 0).all()
        assert (np.diff(delays_s) < 0).all()


ROOT = Path(__file__).parents[2]
ENTRIES = sorted(path.parent for path in ROOT.glob("benchmarks/entries/*/entry.toml"))


@pytest.mark.parametrize("folder", ENTRIES, ids=lambda folder: folder.name)
def test_a_benchmark_entry_has_the_result_of_its_policy_and_names_its_origin(folder, monkeypatch):
    monkeypatch.chdir(ROOT)
    entry = tomllib.loads((folder / "entry.toml").read_text())
    assert all(entry[name] for name in ("policy", "author", "licence", "paper"))
    stored = read_result(folder / "result.json")
    assert stored.policies == [ALWAYS_ON, entry["policy"]]
    assert stored.seeds == JUDGING.seeds
    check_stored(stored, [entry["policy"]])
