"""Study of the factors that limit LPSM: hand-made rows, and a small run."""

from __future__ import annotations

import pandas as pd
import pytest
from psm_lab.reporting.pages.report_writer import summary_section
from psm_lab.studies import load_study, what_limits_lpsm
from psm_lab.studies.study import FULL, QUICK, Scale
from psm_lab.studies.study_runner import reproduce
from psm_lab.studies.what_limits_lpsm import (
    ALONE,
    FACTORS,
    LPSM,
    PRICES_W,
    TRACES,
    Closed,
    Pages,
    distances_to_optimum,
    judge_factors,
    price_verdict,
    share_closed,
    summarise,
)

from psm_sim.common.summary_stats import Interval
from psm_sim.learning.factory import LEARNERS
from psm_sim.policies import make_policy
from psm_sim.simulation import Scenario, compare

SETTINGS = [setting for settings in FACTORS.values() for setting in settings]


def rows(share: float, setting: str, seeds: range) -> pd.DataFrame:
    """Return rows in which LPSM is 1 J from the optimum, and only *setting* is nearer, by *share*."""
    return pd.DataFrame(
        {
            "trace": trace,
            "seed": seed,
            "policy": policy,
            "price_w": price_w,
            "distance_j": (1.0 - share * (policy == setting)) * (1 + seed / 100),
        }
        for trace in TRACES
        for seed in seeds
        for policy in (LPSM, *SETTINGS)
        for price_w in PRICES_W
    )


def test_a_share_is_a_ratio_of_means_with_a_paired_interval():
    """Pages that are harder for both policies do not widen the interval."""
    lpsm = pd.Series([2.0, 3.0, 4.0])
    assert share_closed(lpsm, 0.25 * lpsm) == pytest.approx((0.75, 0.0, 3))
    share = share_closed(lpsm, pd.Series([0.0, 2.0, 3.0]))
    assert share is not None
    assert share.mean == pytest.approx(4 / 9)
    assert share.half_width > 0


@pytest.mark.parametrize(
    ("share", "verdict"), [(0.7, "more than half"), (0.55, "open"), (0.45, "open"), (0.3, "less than half")]
)
def test_a_factor_limits_lpsm_if_the_whole_interval_of_its_share_is_above_one_half(share, verdict):
    """The half width is 0.1."""
    assert Closed("", Interval(share, 0.1, 10)).verdict == verdict


def test_no_share_is_computed_if_lpsm_may_be_at_the_optimum():
    """The interval of the distance includes 0."""
    lpsm = pd.Series([-1.0, 2.0, 3.0])
    assert share_closed(lpsm, 0 * lpsm) is None
    assert Closed("", None).verdict == "open"


def test_a_factor_limits_lpsm_only_on_at_least_three_traces():
    """Of four traces, three or two have an interval above one half."""
    closed = judge_factors(rows(0.8, ALONE["rule"][1], range(3)), rows(0.8, ALONE["rule"][1], range(10, 14)))[
        "rule", 1.0
    ]
    assert price_verdict(closed) == "more than half"
    first, second, *_ = closed
    weak = closed[first]._replace(share=None)
    assert price_verdict({**closed, first: weak}) == "more than half"
    assert price_verdict({**closed, first: weak, second: weak}) == "open"


def test_the_setting_of_a_factor_is_chosen_on_some_seeds_and_judged_on_others():
    """A setting that is best only on the judging seeds is not chosen."""
    chosen, lucky = ALONE["loss"][:2]
    results = judge_factors(rows(0.2, chosen, range(3)), rows(0.9, lucky, range(10, 14)))
    for price_w in PRICES_W:
        assert {closed.setting for closed in results["loss", price_w].values()} == {chosen}
        assert all(
            closed.share and closed.share.mean == pytest.approx(0)
            for closed in results["loss", price_w].values()
        )


def test_the_answer_names_the_factors_that_limit_lpsm_or_states_that_there_are_none():
    (information,) = ALONE["information"]
    seeds = range(3), range(10, 14)
    limited = summarise(judge_factors(*(rows(0.8, information, numbers) for numbers in seeds)))
    assert limited[0].startswith("The information alone limits LPSM at 0.1 W (80 to 80 %) and 1 W")
    unlimited = summarise(judge_factors(*(rows(0.1, information, numbers) for numbers in seeds)))
    assert unlimited[0].startswith("No factor alone limits LPSM.")
    assert "information 10 to 10 %" in unlimited[2]


def test_settings_of_lpsm_change_one_parameter_and_include_every_learner():
    """The published setting belongs to no factor; gamma belongs to the loss."""
    published = make_policy(LPSM).config()
    for factor, settings in ALONE.items():
        for setting in settings:
            config = make_policy(setting).config()
            changed = {name for name in published if config[name] != published[name]}
            assert changed
            assert changed <= {"loss", "gamma"} if factor == "loss" else len(changed) == 1
    learners = {make_policy(setting).config()["learner"] for setting in ALONE["learner"]}
    installed = {name for name, package in LEARNERS.installed().items() if "psm_lab" in package}
    assert learners == {"learn-alpha", *installed}


def test_choosing_and_judging_seeds_are_disjoint():
    """Choices use the seeds 6001 to 6003, and judgements 6101 to 6110."""
    study = load_study("what-limits-lpsm")
    full, quick = (
        {task.arguments["scenario"].seed for task in study.tasks(scale, 1)} for scale in (FULL, QUICK)
    )
    assert full == {*range(6001, 6004), *range(6101, 6111)}
    assert quick < full


def test_the_row_of_lpsm_equals_a_run_of_lpsm():
    """The distance is the cost above the optimum, which allows delay at a low price."""
    scenario = Scenario(pages=6, seed=3)
    rows_ = distances_to_optimum((LPSM, "lpsm:rule=harmonic"), scenario)
    lpsm = [row for row in rows_ if row["policy"] == LPSM]
    run, always_on = compare([LPSM], pages=6, seed=3).runs[0], compare(["always-on"], pages=6, seed=3).runs[0]
    delay_s = run.page_time_s.mean - always_on.page_time_s.mean
    for row, price_w in zip(lpsm, PRICES_W, strict=True):
        assert (row["energy_j"], row["slowdown"]) == (run.energy_per_page_j, run.slowdown.mean)
        cost_j = row["optimum_j"] + row["distance_j"]
        assert cost_j == pytest.approx(row["energy_j"] + price_w * delay_s, rel=1e-12)
    optima = [row["optimum_j"] for row in lpsm]
    assert optima == sorted(optima)


def test_a_small_run_has_tables_and_an_answer(monkeypatch):
    """Two seeds of few pages run on all traces but the slow one, with two settings of each factor."""
    traces = {trace: Pages(2, 2, 1) for trace in TRACES if trace != "modern"}
    monkeypatch.setattr(what_limits_lpsm, "TRACES", traces)
    few = {factor: settings[:2] for factor, settings in FACTORS.items()}
    monkeypatch.setattr(what_limits_lpsm, "FACTORS", few)
    study, scale = load_study("what-limits-lpsm"), Scale(2, 2, 2)
    (findings,) = reproduce({"what-limits-lpsm": study}, scale, workers=1)
    shares, chosen, costs, *settings = (table.frame for table in findings.tables)
    assert len(shares) == len(FACTORS) * len(PRICES_W)
    assert set(shares["verdict"]) <= {"more than half", "less than half", "open"}
    assert set(chosen["ucb"]) <= set(SETTINGS)
    assert len(costs) == len(traces) * len(PRICES_W)
    assert all(frame["policy"].iloc[0] == LPSM for frame in settings)
    assert findings.summary[0] in summary_section([findings])
