"""The study of non-stationary traffic: its numbers obey the theory, its words follow the numbers."""

from __future__ import annotations

import math
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from psm_sim.estimates import Interval
from psm_sim.network import World, load_topology
from psm_sim.policies.lpsm import Lpsm
from psm_sim.simulation import simulate
from psm_sim.studies.non_stationary.rounds import PollLog, learned_rounds, logged_run
from psm_sim.studies.non_stationary.tables import Study, sign, signed, verdict
from psm_sim.studies.non_stationary.task import (
    BOUNDED,
    FIXED,
    LEARN_ALPHA,
    LEARNERS,
    NonStationaryTask,
    timeline,
)
from psm_sim.studies.non_stationary.words import findings, gains, leaders, most_frugal
from psm_sim.workload import load_workload

TRACE, PAGES = "shifting:length=0.05,order=stream+busy+push+quiet*30", 17


@pytest.fixture(scope="module")
def rows() -> list[dict]:
    return [row for seed in (1, 2) for row in NonStationaryTask(TRACE, PAGES, seed, (None, 1e-5)).run()]


def of(rows: list[dict], policy: str, gamma: str = "published", seed: int = 1) -> dict:
    (found,) = [row for row in rows if (row["policy"], row["gamma"], row["seed"]) == (policy, gamma, seed)]
    return found


def test_every_policy_has_a_row_and_every_learner_one_for_each_gamma(rows):
    """And hindsight."""
    published = {row["policy"] for row in rows if row["gamma"] == "published"}
    assert published == {*FIXED, *BOUNDED, *LEARNERS, "hindsight"}
    assert {row["policy"] for row in rows if row["gamma"] == "1e-05"} == {*LEARNERS, "hindsight"}


def test_a_run_alone_has_the_same_energy_and_slowdown(rows):
    """Keeping a log changes nothing; Static-expert is alpha = 0."""
    for spec, label in (("lpsm", LEARN_ALPHA), ("lpsm:alpha=0", "Static-expert"), (FIXED[2], FIXED[2])):
        alone = simulate(spec, trace=TRACE, pages=PAGES, seed=1)
        assert of(rows, label)["energy_j"] == alone.energy_per_page_j
        assert of(rows, label)["slowdown"] == alone.slowdown.mean


@pytest.mark.parametrize("gamma", ["published", "1e-05"])
def test_losses_in_hindsight_are_ordered_as_they_must_be(rows, gamma):
    """Each round's best <= best switching <= best expert; the best rate is no worse than any rate tried."""
    hindsight = of(rows, "hindsight", gamma)
    assert hindsight["each_round"] <= hindsight["best_switching"] <= hindsight["best_expert"]
    for learner in LEARNERS[1:]:
        assert of(rows, learner, gamma)["common"] >= hindsight["best_rate"] - 1e-6
    assert of(rows, "Static-expert", gamma)["common"] <= hindsight["best_expert"] + math.log(12) + 1e-6


@pytest.mark.parametrize("gamma", ["published", "1e-05"])
def test_learn_alphas_own_rounds_are_the_common_ones(rows, gamma):
    """Replaying its rounds gives the mixture loss that the run suffered."""
    ours = of(rows, LEARN_ALPHA, gamma)
    assert ours["common"] == pytest.approx(ours["mixture"], rel=1e-9)
    assert ours["rounds"] == of(rows, "hindsight", gamma)["rounds"]


def test_static_experts_regret_is_at_most_the_logarithm_of_the_experts(rows):
    """Over its own rounds, whatever they were."""
    for gamma in ("published", "1e-05"):
        assert of(rows, "Static-expert", gamma)["own_regret"] <= math.log(12) + 1e-6


def test_regimes_are_told_apart_in_the_order_of_the_schedule(rows):
    """Power lies between asleep and awake, and a stream delays every page."""
    ours = of(rows, LEARN_ALPHA)
    assert list(ours["power_mw"]) == ["stream", "busy", "push", "quiet"]
    assert all(50 < power < 750 for power in ours["power_mw"].values())
    assert ours["regime_delay_ms"]["stream"] > 0


@pytest.mark.parametrize("alpha", [None, 0.0, 0.1])
def test_learning_again_from_the_polls_ends_where_the_run_ended(alpha):
    """The same number of rounds, the same prediction, the same weights, to the last bit."""
    policy, log = Lpsm(alpha=alpha), PollLog()
    World(load_topology(), policy, [log]).run(load_workload("ucb", 5, 3).pages)
    again = Lpsm(alpha=alpha)
    rounds = learned_rounds(again, log.polls, 0.1)
    assert len(rounds) == policy.learner.rounds > 100
    assert rounds[-1].polling_ms == policy.learner.predict(policy.times_ms)
    assert (again.learner.weights == policy.learner.weights).all()


def test_a_logged_run_is_the_run_without_a_log():
    """Same pages, same numbers; a run without times to compare with has no slowdown."""
    workload = load_workload("ucb", 5, 3)
    run, rounds = logged_run(workload, None, None)
    alone = simulate("lpsm", trace=workload)
    assert run.energy_per_page_j == alone.energy_per_page_j
    assert [record.page_time_s for record in run.page_records] == [
        record.page_time_s for record in alone.page_records
    ]
    assert run.slowdown.mean == 1.0
    assert len(rounds) > 100


def test_a_timeline_has_the_regimes_of_its_run():
    """They join, and the polling times lie within the experts' range."""
    found = timeline("shifting:length=0.05", 20, 1, None)
    assert [name for name, _, _ in found.regimes][:4] == ["quiet", "busy", "stream", "push"]
    assert found.regimes[0][1] == 0
    assert all(one[2] == other[1] for one, other in zip(found.regimes, found.regimes[1:], strict=False))
    assert all(100 <= polling_ms <= 1200 for _, polling_ms in found.polling)


def made_up(more: dict[str, tuple[float, float]]) -> Study:
    """Return a study of three seeds in which *more* are energy and slowdown beyond Learn-alpha's 1 and 2."""
    rivals = dict.fromkeys((*FIXED, *BOUNDED, *LEARNERS[1:]), (1.0, 1.0)) | more
    rows: list[dict[str, Any]] = []
    for seed in (1, 2, 3):
        for policy, (energy, slowdown) in {LEARN_ALPHA: (0.0, 0.0), **rivals}.items():
            jitter = 1e-3 * seed if policy != LEARN_ALPHA else 0.0
            rows.append({
                "policy": policy, "gamma": "published", "seed": seed, "common": 5.0 + energy,
                "energy_j": 1 + energy + jitter, "slowdown": 2 + slowdown + jitter,
            })  # fmt: skip
        rows.append(
            {"policy": "hindsight", "gamma": "published", "seed": seed, "best_expert": 4.0, "best_rate": 3.0}
        )
    return Study(rows)


def test_the_gain_is_set_beside_that_on_stationary_traffic():
    """1 of 2 J saved here, 1 of 5 there; the most frugal learner is named."""
    half, fifth = made_up({}), made_up({"Static-expert": (0.25, 0.0), "Fixed-share 0.5": (-0.5, 0.0)})
    assert "is 50.0 ± 0.1 % of its energy on the shifting traffic and 20.1 ± 0.2 % on" in gains(half, fifth)
    assert gains(half, fifth).endswith(": more where regimes switch.")
    assert gains(fifth, half).endswith(": not more where regimes switch.")
    assert (most_frugal(half), most_frugal(fifth)) == (LEARN_ALPHA, "Fixed-share 0.5")


@pytest.mark.parametrize(
    ("energy", "slowdown", "word"),
    [
        (0.1, 0.1, "loses in both"),
        (0.1, -0.002, "loses"),
        (-0.002, 0.1, "loses"),
        (0.1, -0.1, "faster, at more energy"),
        (-0.1, 0.1, "frugal, but slower"),
        (-0.1, -0.002, "**wins**"),
        (-0.002, -0.1, "**wins**"),
        (-0.1, -0.1, "**wins in both**"),
        (-0.002, -0.002, "no difference"),
    ],
)
def test_a_verdict_follows_the_signs_of_both_intervals(energy, slowdown, word):
    """An interval that holds 0 says nothing."""
    assert verdict(made_up({"bsd:p=1": (energy, slowdown)}), "bsd:p=1") == word


def test_a_sign_is_given_only_by_an_interval_off_zero():
    """Above, below, across."""
    assert [sign(Interval(mean, 1.0, 3)) for mean in (2.0, -2.0, 0.5)] == [1, -1, 0]
    assert signed(Interval(-2.0, 1.0, 3), 1) == "-2.0 ± 1.0"


def test_the_best_fixed_polling_times_are_found_in_hindsight():
    """Least energy; least energy among the fast ones; fastest among the frugal ones."""
    study = made_up({
        "psm:listen_interval=3": (-0.5, 0.5),
        "psm:listen_interval=5": (-0.3, 0.2),
        "psm:listen_interval=2": (0.4, -0.4),
    })  # fmt: skip
    assert [*study.best_fixed().values()] == [FIXED[2], FIXED[1], FIXED[4]]
    assert [*made_up({}).best_fixed().values()][1:] == ["", ""]


def test_findings_name_numbers_and_losers():
    """Words and signs come from the rows."""
    text = findings(made_up({"Fixed-share 0.1": (-0.5, -0.5), "Static-expert": (0.25, 0.1)}))
    assert "takes 20.1 % less energy (-252.0 ± 2.5 mJ per page), and its slowdown differs by -0.102" in text
    assert "Fixed-share 0.1: **wins in both**" in text
    assert "+1.0 ± 0.0 nats more than the best expert" in text
    assert "Fixed-share 0.1 lost less" in text
    assert leaders(made_up({"Fixed-share 0.1": (-0.5, -0.5)})).count("Fixed-share 0.1") == 3


def test_the_document_is_written_with_all_its_numbers_and_figures(rows, tmp_path):
    """No placeholder is left, every figure it shows is there, in three forms."""
    script = runpy.run_path(str(Path(__file__).resolve().parents[2] / "benchmarks" / "non_stationary.py"))
    script["write"](Study(rows), Study(rows), tmp_path, 2, shown_pages=8)
    text = (tmp_path / "non-stationary.md").read_text(encoding="utf-8")
    assert "$" not in text
    assert "nan" not in text
    for shown in re.findall(r"\]\((\S+\.svg)\)", text):
        for suffix in (".svg", ".png", ".csv"):
            assert (tmp_path / shown).with_suffix(suffix).stat().st_size > 1000 * (suffix != ".csv")


def test_a_task_weighs_the_pages_of_all_its_runs():
    """One without power saving, the fixed and bounded policies, and each learner under each gamma."""
    runs = 1 + len(FIXED) + len(BOUNDED) + 2 * len(LEARNERS)
    assert NonStationaryTask(TRACE, 10, 1, (None, 1e-5)).weight == 10 * runs
