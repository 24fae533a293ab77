"""Published and simulated numbers: the rule of the verdicts, presets, and required agreement."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from psm_lab.studies import STUDIES
from psm_lab.studies.published_claims import PublishedNumber, published_claims, published_numbers, role_of
from psm_lab.studies.published_experiment_runs import PRESETS
from psm_lab.studies.study import CHOOSING, FULL

from psm_sim.common.errors import InputError
from psm_sim.common.summary_stats import Interval
from psm_sim.simulation.preset import load_preset

REPORT = Path(__file__).resolve().parents[3] / "reports" / "reproduction" / "numbers.json"


def number(**facts) -> PublishedNumber:
    return PublishedNumber("study", "psm", "energy_j", "somewhere", **facts)


@pytest.mark.parametrize(
    ("published", "ours", "largest", "verdict"),
    [
        (number(value=3.62, unit=0.01), Interval(3.72, 0.0, 1), 3.72, "agrees"),
        (number(value=3.62, unit=0.01), Interval(3.73, 0.0, 1), 3.73, "differs"),
        (number(value=3.62, unit=0.01), Interval(3.73, 0.01, 9), 3.8, "undecided"),
        (number(value=3.62, unit=0.01), Interval(3.70, 0.05, 9), 3.8, "undecided"),
        (number(value=3.62, unit=0.01), Interval(3.60, 0.05, 9), 3.8, "agrees"),
        (number(value=3.62, unit=0.01), Interval(3.80, 0.05, 9), 3.9, "differs"),
        (number(low=0.01, high=0.14, unit=0.01), Interval(0.145, 0.002, 9), 0.146, "undecided"),
        (number(value=0.1, unit=0.1), Interval(0.149, 0.0, 1), 0.149, "agrees"),
        (number(at_most=2.0), Interval(1.5, 0.5, 9), 2.01, "differs"),
        (number(at_most=2.0), Interval(1.99, 0.5, 9), 2.0, "agrees"),
        (number(low=0.01, high=0.14, unit=0.01), Interval(0.146, 0.0, 1), 0.146, "differs"),
        (number(low=0.01, high=0.14, unit=0.01), Interval(0.006, 0.0, 1), 0.006, "agrees"),
        (number(value=1.0, not_comparable="another card"), Interval(9.0, 0.0, 1), 9.0, "not comparable"),
    ],
)
def test_a_verdict_allows_3_per_cent_or_half_of_the_last_published_digit(published, ours, largest, verdict):
    """The tolerance does not include the simulated interval. Bounds are compared with the largest value."""
    assert published.verdict(ours, largest, 0.03) == verdict


def test_every_published_number_has_its_source_and_a_study():
    numbers = [number_ for study in STUDIES for number_ in published_numbers(study)]
    assert len(numbers) >= 20
    assert all(number_.source for number_ in numbers)
    assert len({(number_.study, number_.policy, number_.quantity) for number_ in numbers}) == len(numbers)


def test_each_preset_agrees_with_the_numbers_to_which_it_was_fitted():
    """LPSM with 1/log T agrees under both fitted presets; with 1/T beacons agree under the lighter tail."""
    claims = json.loads(REPORT.read_text(encoding="utf-8"))["studies"]["lpsm-100"]["claims"]
    headline = {(claim_["preset"], claim_["policy"], claim_["quantity"]): claim_ for claim_ in claims}
    for preset in ("thesis", "thesis-uniform"):
        log = [headline[preset, "lpsm:loss=inverse-log", name] for name in ("energy_j", "beacons_j")]
        assert {(claim_["role"], claim_["verdict"]) for claim_ in log} == {("fitted", "agrees")}
        assert headline[preset, "lpsm:loss=inverse-log", "page_ratio_max"]["largest"] < 2
    share = {
        preset: headline[preset, "lpsm:loss=inverse", "beacons_j"]["mean"]
        / headline[preset, "psm", "beacons_j"]["mean"]
        for preset in PRESETS
    }
    assert share["thesis"] < 0.5 < 0.65 < share["thesis-uniform"] < 0.75


def test_the_role_of_a_number_follows_from_the_history_of_the_preset():
    """A pattern that matches makes a number calibrated or fitted; every other number is predicted."""
    preset = load_preset("thesis-uniform")
    assert role_of("lpsm-4x500/psm/energy_j", preset) == "calibrates"
    assert role_of("lpsm-100/lpsm:loss=inverse/page_ratio_max", preset) == "fitted"
    assert role_of("lpsm-100/lpsm:loss=inverse/page_ratio_long", preset) == "predicted"
    assert role_of("bsd-energy/bsd:p=1/time_saved", preset) == "predicted"
    assert role_of("lpsm-100/lpsm:loss=inverse/energy_j", load_preset("plain")) == "predicted"
    assert role_of("bsd-energy/psm/slowdown_max", load_preset("plain")) == "fitted"


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_documents_its_fitted_choices(name):
    """A fit has the numbers, the candidates and the seeds, which are not judging seeds."""
    preset = load_preset(name)
    assert preset.note().startswith(f"preset {name}: ")
    assert {choice_.choice for choice_ in (*preset.calibrated, *preset.fitted)} <= {
        "mean_think_s", "think", "server_delay_ms", "files_are_images", "lpsm:uplink",
    }  # fmt: skip
    for choice_ in preset.fitted:
        assert choice_.looked_at
        assert choice_.tried
    assert json.loads(json.dumps(preset.history())) == preset.history()
    judged = {*FULL.judging(1), *FULL.judging(1, long=True)}
    assert not judged & {*range(1, 11), *CHOOSING}
    assert len(FULL.judging(1)) >= 100


def test_a_published_bound_has_the_share_of_replications_that_satisfy_it():
    """The verdict is on the largest value."""
    values = {(item.policy, item.quantity): [1.0, 1.1, 3.0, 1.0] for item in published_numbers("lpsm-100")}
    claims_ = {
        item.published.key: item for item in published_claims("lpsm-100", values, load_preset("plain"))
    }
    bound = claims_["lpsm-100/lpsm:loss=inverse/page_ratio_max"]
    assert (bound.kept, bound.verdict) == (0.75, "differs")
    assert claims_["lpsm-100/psm/energy_j"].kept is None


def test_explicit_options_override_the_defaults_of_a_preset():
    """A preset sets the parameters of its own trace and policies only."""
    preset = load_preset("thesis")
    assert preset.policy_spec("lpsm:loss=inverse").values["uplink"] == "restart"
    assert str(preset.policy_spec("lpsm:uplink=one")) == "lpsm:uplink=one"
    assert str(preset.policy_spec("psm")) == "psm"
    assert preset.trace_spec("ucb:server_delay_ms=7").values["server_delay_ms"] == "7"
    assert str(preset.trace_spec("pages.csv")) == "pages.csv"
    assert "server_delay_ms" not in preset.trace_spec(server_delay_ms=None).values
    spec = "lpsm:loss=(my.py:Mine:a=50,b=0.5)"
    assert str(preset.policy_spec(spec)) == f"{spec},uplink=restart"
    with pytest.raises(InputError, match=r"Unknown preset 'theses'.*thesis"):
        load_preset("theses")
