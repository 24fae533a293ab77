"""Published numbers beside ours: the rule of the verdicts, the preset, and what must agree."""

from __future__ import annotations

import pytest

from psm_sim.campaign.comparison import RunTask
from psm_sim.campaign.tasks import run_tasks
from psm_sim.errors import InputError
from psm_sim.estimates import Interval
from psm_sim.simulation import Scenario
from psm_sim.simulation.preset import load_preset
from psm_sim.studies import STUDIES, load_study
from psm_sim.studies.published import Published, claims, published_numbers
from psm_sim.studies.study import Scale

SMALL = Scale(replications=2, pages=100, long_pages=60)


def number(**facts) -> Published:
    return Published("study", "psm", "energy_j", "somewhere", **facts)


@pytest.mark.parametrize(
    ("published", "ours", "largest", "verdict"),
    [
        (number(value=3.62, unit=0.01), Interval(3.72, 0.0, 1), 3.72, "agrees"),
        (number(value=3.62, unit=0.01), Interval(3.73, 0.0, 1), 3.73, "differs"),
        (number(value=3.62, unit=0.01), Interval(3.73, 0.01, 9), 3.8, "agrees"),
        (number(value=0.1, unit=0.1), Interval(0.149, 0.0, 1), 0.149, "agrees"),
        (number(at_most=2.0), Interval(1.5, 0.5, 9), 2.01, "differs"),
        (number(at_most=2.0), Interval(1.99, 0.5, 9), 2.0, "agrees"),
        (number(low=0.01, high=0.14, unit=0.01), Interval(0.146, 0.0, 1), 0.146, "differs"),
        (number(low=0.01, high=0.14, unit=0.01), Interval(0.006, 0.0, 1), 0.006, "agrees"),
        (number(value=1.0, not_comparable="another card"), Interval(9.0, 0.0, 1), 9.0, "not comparable"),
    ],
)
def test_the_rule_of_the_verdicts(published, ours, largest, verdict):
    """Three per cent or half the last digit, widened by our interval; bounds by the largest value."""
    assert published.verdict(ours, largest, 0.03) == verdict


def test_every_published_number_has_its_source_and_a_study():
    """No number without where it comes from."""
    numbers = [each for study in STUDIES for each in published_numbers(study)]
    assert len(numbers) >= 20
    assert all(each.source for each in numbers)
    assert len({(each.study, each.policy, each.quantity) for each in numbers}) == len(numbers)


def test_the_preset_agrees_with_the_main_published_numbers():
    """Static PSM and LPSM with 1/log T, 100 pages: energy, beacons, slowdown, worst page."""
    study = load_study("lpsm-100")
    tasks = study.tasks(SMALL, 1)
    findings = study.digest(run_tasks(tasks), SMALL, 1)
    verdicts = {(each.published.policy, each.published.quantity): each.verdict for each in findings.claims}
    for policy in ("psm", "lpsm:loss=inverse-log"):
        assert {verdict for (name, _), verdict in verdicts.items() if name == policy} == {"agrees"}
    ours = {(each.published.policy, each.published.quantity): each for each in findings.claims}
    log = {name: ours["lpsm:loss=inverse-log", name] for name in ("energy_j", "beacons_j", "page_ratio_mean")}
    psm = {name: ours["psm", name] for name in ("energy_j", "beacons_j")}
    assert 0.175 <= 1 - log["energy_j"].ours.mean / psm["energy_j"].ours.mean <= 0.195
    assert 0.18 <= log["beacons_j"].ours.mean / psm["beacons_j"].ours.mean <= 0.20
    assert 1.15 <= log["page_ratio_mean"].ours.mean <= 1.25
    assert ours["lpsm:loss=inverse-log", "page_ratio_max"].largest < 2


def test_claims_come_in_the_order_of_the_published_numbers():
    """With the mean and the largest of ours."""
    values = {(each.policy, each.quantity): [1.0, 3.0] for each in published_numbers("lpsm-4x500")}
    found = claims("lpsm-4x500", values)
    assert [each.published for each in found] == published_numbers("lpsm-4x500")
    assert all((each.ours.mean, each.largest) == (2.0, 3.0) for each in found)


def test_rows_do_not_depend_on_the_number_of_workers():
    """To the last bit."""
    tasks = [RunTask(("psm", "lpsm"), Scenario(pages=4, seed=seed)) for seed in (1, 2, 3)]
    assert run_tasks(tasks, workers=1) == run_tasks(tasks, workers=2)


def test_a_preset_gives_defaults_that_what_is_given_overrides():
    """For its own trace and policies only."""
    preset = load_preset("thesis")
    assert preset.policy_spec("lpsm:loss=inverse").values["uplink"] == "restart"
    assert str(preset.policy_spec("lpsm:uplink=one")) == "lpsm:uplink=one"
    assert str(preset.policy_spec("psm")) == "psm"
    assert preset.trace_spec("ucb:server_delay_ms=7").values["server_delay_ms"] == "7"
    assert str(preset.trace_spec("pages.csv")) == "pages.csv"
    assert "server_delay_ms" not in preset.trace_spec(server_delay_ms=None).values
    with pytest.raises(InputError, match=r"no preset 'theses'.*thesis"):
        load_preset("theses")


def test_an_unknown_study_is_named_with_the_nearest():
    """One sentence."""
    with pytest.raises(InputError, match=r"no study 'bsd-rt'.*Did you mean 'bsd-rtt'"):
        load_study("bsd-rt")


def test_a_presets_parameters_join_a_spec_without_touching_it():
    """Parentheses around a value stay."""
    spec = "lpsm:loss=(my.py:Mine:a=50,b=0.5)"
    assert str(load_preset("thesis").policy_spec(spec)) == f"{spec},uplink=restart"
    assert str(load_preset("thesis").policy_spec("lpsm")) == "lpsm:uplink=restart"
    joined = str(load_preset("thesis").trace_spec("ucb:wander=0.02"))
    assert joined.startswith("ucb:wander=0.02,server_delay_ms=650")
