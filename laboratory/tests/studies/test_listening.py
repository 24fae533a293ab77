"""Listening study: claims on hand-made rows, and a small run."""

from __future__ import annotations

from functools import partial
from operator import truediv

import pandas as pd
import pytest
from psm_lab.push_traffic import push_workload
from psm_lab.reporting.figures.figure_registry import draw
from psm_lab.studies import listening, load_study
from psm_lab.studies.listening import (
    CLAIMS,
    FIRST_SEED,
    INTERVALS,
    PAGE_POLICIES,
    PAGE_TRACES,
    PUSH_POLICIES,
    PUSH_TRACES,
    Condition,
    at_equal_delay,
    judge_conditions,
    run_matched,
    run_policies,
)
from psm_lab.studies.study import FULL, QUICK, Scale
from psm_lab.studies.study_runner import reproduce

from psm_sim.simulation import Scenario

USED = {policy for claim in CLAIMS for policy in (claim.policy, claim.against)}


def rows(**columns) -> pd.DataFrame:
    """Return rows of three seeds."""
    return pd.DataFrame(columns, index=pd.Index([1, 2, 3], name="seed"))


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [([1.0, 1.1, 1.0], "agrees"), ([1.9, 1.6, 2.6], "open"), ([3.0, 3.1, 3.0], "differs")],
)
def test_a_condition_agrees_if_the_whole_interval_satisfies_the_condition(ours, verdict):
    """The paired differences to 2 J are of three seeds."""
    condition = Condition("J/page, difference", "energy_j")
    assert judge_conditions([condition], rows(energy_j=ours), rows(energy_j=[2.0, 2.0, 2.0]))[1] == verdict


def test_the_limit_of_a_condition_is_a_tolerance_or_a_share():
    """The slowdown may exceed the other one by 0.03, and the energy is at most 91 %."""
    near = Condition("slowdown, difference", "slowdown", 0.03)
    assert judge_conditions([near], rows(slowdown=[1.02] * 3), rows(slowdown=[1.0] * 3))[1] == "agrees"
    share = Condition("J/page, ratio", "energy_j", 0.91, truediv)
    assert judge_conditions([share], rows(energy_j=[0.92] * 3), rows(energy_j=[1.0] * 3))[1] == "differs"


def test_the_results_of_fixed_intervals_are_interpolated_to_equal_delay():
    """With energy 1 / k and delay k / 2, interpolated energy is inversely proportional to delay."""
    fixed = pd.DataFrame(
        [
            {"policy": f"psm:listen_interval={k}", "seed": 1, "delay_s": k / 2, "above_j_per_h": 60 / k}
            for k in INTERVALS
        ]
    )
    ours = pd.DataFrame({"delay_s": [2.0]}, index=pd.Index([1], name="seed"))
    assert at_equal_delay(fixed, ours)["above_j_per_h"].tolist() == pytest.approx([15.0])


def test_no_seed_of_the_study_was_used_for_a_choice():
    """The seeds are above 5000; those of tests and of the specification are below 1000."""
    for scale in (FULL, QUICK):
        arguments = [task.arguments for task in listening.tasks(scale, 1)]
        scenarios = [
            s for argument in arguments for s in argument.get("scenarios", [argument.get("scenario")])
        ]
        assert all(scenario.seed > FIRST_SEED for scenario in scenarios)


def test_matched_random_listening_receives_the_same_number_of_beacons():
    """The numbers agree within a twentieth on the pages on which the probability was tuned."""
    learner = "listen:learner=cbgz,b=0.3"
    pages = Scenario(pages=10, seed=21)
    (matched,), (wanted,) = run_matched(pages, [pages], [learner]), run_policies([learner], pages)
    assert matched["matches"] == learner
    assert matched["beacons"] == pytest.approx(wanted["beacons"], rel=0.05)


def test_the_figure_has_a_panel_for_each_trace():
    """The figure uses the numbers of the findings; each panel has the line of the offline optimum."""
    frame = pd.DataFrame(
        [
            {
                "title": trace.title,
                "family": family,
                "policy": family,
                "slowdown": 1.5,
                "energy_j": 3.0,
                "hindsight_j": 2.9,
            }
            for trace in PAGE_TRACES
            for family in ("anticipate", "psm")
        ]
    )
    figure, caption = draw("listening", frame)
    assert [axes.get_title() for axes in figure.axes if axes.get_visible()] == [p.title for p in PAGE_TRACES]
    assert "offline optimum" in caption


def test_the_findings_have_claims_and_tables_and_the_numbers_of_the_figure(monkeypatch):
    """The run has two seeds, few pages, all policies, and all traces but the long ones."""
    small = tuple(trace._replace(pages=2, quick_pages=2) for trace in PAGE_TRACES[:1])
    claims = tuple(c._replace(traces=small) if c.traces == PAGE_TRACES else c for c in CLAIMS)
    needed = [policy for policy in PUSH_POLICIES if policy in USED or policy.startswith("psm")]
    changes = {"PAGE_TRACES": small, "PUSH_TRACES": PUSH_TRACES[::2], "CLAIMS": claims}
    monkeypatch.setattr(listening, "push_workload", partial(push_workload, page_s=300.0))
    for name, value in {**changes, "PUSH_POLICIES": tuple(needed)}.items():
        monkeypatch.setattr(listening, name, value)
    (findings,) = reproduce({"listening": load_study("listening")}, Scale(2, 2, 2), workers=1)
    frame = findings.tables[0].frame
    assert set(frame["verdict"]) <= {"agrees", "open", "differs"}
    assert len(frame) == len(CLAIMS)
    assert set(findings.figures["listening"]["policy"]) == set(PAGE_POLICIES)
