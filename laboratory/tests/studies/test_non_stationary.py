"""Study of non-stationary traffic: its numbers obey the theory, and its sentences follow from the numbers."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from psm_lab.studies.learner_runs import (
    BOUNDED,
    CURVE,
    FIXED,
    LEARN_ALPHA,
    LEARNERS,
    RATES,
    gamma_label,
    logged_run,
    polling_times,
    regrets,
    run_policies,
)
from psm_lab.studies.non_stationary import (
    MILD,
    Runs,
    best_fixed,
    best_learner,
    by_seed,
    comparisons,
    gains,
    leaders,
    verdict,
)

from psm_sim.campaign.loss_examination import LearnerRound
from psm_sim.learning import LearnAlpha, rate_losses, switching_rates
from psm_sim.network import build_world, load_topology, run_alone
from psm_sim.policies.lpsm import Lpsm
from psm_sim.simulation import Scenario, simulate
from psm_sim.workload import load_workload

COMMITTED = Path(__file__).resolve().parents[3] / "reports" / "reproduction" / "quick.json"
TRACE, PAGES = "shifting:length=0.05,order=stream+busy+push+quiet*30", 17


@pytest.fixture(scope="module")
def rows() -> list[dict]:
    return run_policies(TRACE, PAGES, 1, (None, 1e-5))


def of(rows: list[dict], policy: str, gamma: str = "published") -> dict:
    (row_,) = [row for row in rows if row["policy"] == policy and row["gamma"] in ("", gamma)]
    return row_


def test_recording_the_rounds_changes_neither_energy_nor_slowdown(rows):
    """Static-expert is the run with alpha = 0."""
    for spec, label in (("lpsm", LEARN_ALPHA), ("lpsm:alpha=0", "Static-expert"), (FIXED[2], FIXED[2])):
        alone = simulate(spec, trace=TRACE, pages=PAGES, seed=1)
        assert of(rows, label)["energy_j"] == alone.energy_per_page_j
        assert of(rows, label)["slowdown"] == alone.slowdown.mean


@pytest.mark.parametrize("gamma", ["published", "1e-05"])
def test_more_powerful_comparators_have_less_loss(rows, gamma):
    """The order is the best of each round, the best switching sequence, and the best expert.

    The best rate is no worse than any tried rate.
    """
    hindsight = of(rows, "hindsight", gamma)
    assert hindsight["each_round"] <= hindsight["best_switching"] <= hindsight["best_expert"]
    for learner in LEARNERS[1:]:
        assert of(rows, learner, gamma)["common"] >= hindsight["best_rate"] - 1e-6
    assert of(rows, "Static-expert", gamma)["common"] <= hindsight["best_expert"] + math.log(12) + 1e-6


@pytest.mark.parametrize("gamma", [None, 1e-5])
def test_the_common_rounds_are_the_rounds_recorded_by_learn_alpha(rows, gamma):
    """Learning again from their losses gives the mixture loss of the run."""
    _, rounds = logged_run(load_workload(TRACE, PAGES, 1), gamma, None)
    again = LearnAlpha(12, switching_rates(horizon=27_000))
    assert [again.update(round_.losses) for round_ in rounds] == [round_.mixture for round_ in rounds]
    ours, hindsight = (of(rows, name, gamma_label(gamma)) for name in (LEARN_ALPHA, "hindsight"))
    assert ours["common"] == sum(round_.mixture for round_ in rounds)
    assert ours["rounds"] == hindsight["rounds"] == len(rounds)


def test_on_common_rounds_the_loss_at_each_rate_equals_that_of_fixed_share():
    """Static-expert has rate 0."""
    table = np.random.default_rng(5).exponential(1, (60, 5))
    learners, hindsight = regrets(
        [[LearnerRound(0.0, losses, 1.0, 1.0, losses, 100.0) for losses in table]] * (1 + len(RATES)), 2
    )
    common = [learner_["common"] for learner_ in learners]
    assert common == pytest.approx([60.0, *rate_losses(table, RATES)], rel=1e-12)
    assert hindsight["curve"] == pytest.approx(rate_losses(table, CURVE) - table.sum(axis=0).min(), rel=1e-9)


@pytest.mark.parametrize("alpha", [None, 0.0, 0.1])
def test_the_recorded_rounds_are_the_rounds_from_which_lpsm_learns(alpha):
    """Number and last prediction are equal, although LPSM learns idle rounds in one step."""
    workload, policy = load_workload("ucb", 5, 3), Lpsm(alpha=alpha)
    run_alone(build_world(load_topology(), policy), workload.pages)
    _, rounds = logged_run(workload, None, alpha)
    assert len(rounds) == policy.learner.rounds > 100
    assert rounds[-1].polling_ms == pytest.approx(policy.polling_ms, rel=1e-9)
    assert [round_.time_s for round_ in rounds] == sorted(round_.time_s for round_ in rounds)


def test_a_timeline_has_the_regimes_of_its_run():
    """Regimes are in the order of the schedule; polling times are within the range of the experts."""
    timeline = pd.DataFrame(polling_times(None, Scenario("shifting:length=0.05", pages=20, seed=1)))
    assert list(dict.fromkeys(timeline["regime"])) == ["quiet", "busy", "stream", "push"]
    assert timeline["minutes"].is_monotonic_increasing
    assert timeline["polling_ms"].between(100, 1200).all()
    assert set(timeline["learner"]) == {LEARN_ALPHA}


def synthetic_runs(more: dict[str, tuple[float, float]]) -> Runs:
    """Return rows of three seeds in which *more* are energy and slowdown beyond Learn-alpha's 1 and 2."""
    rivals = dict.fromkeys((*FIXED, *BOUNDED, *LEARNERS[1:]), (1.0, 1.0)) | more
    rows: list[dict[str, Any]] = []
    for seed in (1, 2, 3):
        for policy, (energy, slowdown) in {LEARN_ALPHA: (0.0, 0.0), **rivals}.items():
            jitter = 1e-3 * seed if policy != LEARN_ALPHA else 0.0
            rows.append({
                "policy": policy, "gamma": "published", "seed": seed, "common": 5.0 + energy,
                "energy_j": 1 + energy + jitter, "slowdown": 2 + slowdown + jitter,
            })  # fmt: skip
        hindsight = {"best_expert": 4.0, "best_rate": 3.0, "alpha": 1e-3}
        rows.append({"policy": "hindsight", "gamma": "published", "seed": seed, **hindsight})
    return by_seed(pd.DataFrame(rows))


def test_the_gain_is_compared_with_the_gain_on_stationary_traffic():
    """Savings are 1 of 2 J and 1 of 5 J. The learner with the least energy is named."""
    half, fifth = (
        synthetic_runs({}),
        synthetic_runs({"Static-expert": (0.25, 0.0), "Fixed-share 0.5": (-0.5, 0.0)}),
    )
    assert "is 50.0 ± 0.1 % of its energy on the shifting traffic and 20.1 ± 0.2 % on" in gains(half, fifth)
    assert gains(half, fifth).endswith("The saving is larger if regimes switch.")
    assert gains(fifth, half).endswith("The saving is not larger if regimes switch.")
    assert [best_learner(runs, "energy_j") for runs in (half, fifth)] == [LEARN_ALPHA, "Fixed-share 0.5"]


@pytest.mark.parametrize(
    ("energy", "slowdown", "word"),
    [
        (0.1, 0.1, "worse in both"),
        (0.1, -0.002, "worse in energy"),
        (-0.002, 0.1, "worse in slowdown"),
        (0.1, -0.1, "faster, at more energy"),
        (-0.1, 0.1, "frugal, but slower"),
        (-0.1, -0.002, "better in energy"),
        (-0.002, -0.1, "better in slowdown"),
        (-0.1, -0.1, "better in both"),
        (-0.002, -0.002, "equivalent"),
        (0.004, 0.01, "equivalent"),
        (0.007, 0.01, "undecided (energy undecided, slowdown equivalent)"),
        (0.1, 0.017, "undecided (energy worse, slowdown undecided)"),
    ],
)
def test_a_verdict_follows_from_the_two_intervals_and_the_margins(energy, slowdown, word):
    """The margins are 1 % of energy and 0.02 of slowdown. A significant difference can be within them."""
    assert verdict(synthetic_runs({"bsd:p=1": (energy, slowdown)}), "bsd:p=1") == word


def test_the_best_fixed_polling_times_are_selected_in_hindsight():
    """The criteria are least energy, least energy of the fast ones, and fastest of the frugal ones."""
    study = synthetic_runs({
        "psm:listen_interval=3": (-0.5, 0.5),
        "psm:listen_interval=5": (-0.3, 0.2),
        "psm:listen_interval=2": (0.4, -0.4),
    })  # fmt: skip
    assert [*best_fixed(study).values()] == [FIXED[2], FIXED[1], FIXED[4]]
    assert [*best_fixed(synthetic_runs({})).values()][1:] == ["", ""]


def test_remarks_state_the_numbers_of_the_rows_and_the_learners_that_are_worse():
    runs_ = synthetic_runs({"Fixed-share 0.1": (-0.5, -0.5), "Static-expert": (0.25, 0.1)})
    text = " ".join(comparisons(runs_))
    assert "takes 20.1 % less energy (-252.0 ± 2.5 mJ per page), and its slowdown differs by -0.102" in text
    assert "Fixed-share 0.1: better in both" in text
    assert "+1.0 ± 0.0 nats to the best expert" in text
    assert "lower loss: Fixed-share 0.1" in text
    assert leaders(runs_).count("Fixed-share 0.1") == 3


@pytest.mark.parametrize(
    ("part", "number"), [("Published gamma", 0), (f"Gamma {MILD:g}", 1), ("Stationary control", 5)]
)
def test_the_remarks_in_the_committed_report_agree_with_the_tables_in_the_report(part, number):
    """Each learner with a fixed rate is compared with Learn-alpha."""
    study = json.loads(COMMITTED.read_text(encoding="utf-8"))["studies"]["non-stationary"]
    (sentence,) = [text for text in study["remarks"] if text.startswith(f"{part}. Fixed-share compared")]
    stated: dict[str, str] = {}
    for part_ in sentence.removesuffix(".").partition("Learn-alpha: ")[2].split("; "):
        names, _, verdict = part_.partition(": ")
        stated |= dict.fromkeys(names.split(", "), verdict)
    rows = study["tables"][number]["rows"]
    assert stated == {row[0]: row[-1] for row in rows if row[0].startswith("Fixed-share")}
