"""Base and charge of a chip, estimated from one or two measured means."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest

from psm_sim.cli import main
from psm_sim.common.errors import InputError
from psm_sim.network.chip_estimation import estimate_base_and_charge
from psm_sim.network.chip_profiles import base_and_charge_of_others, load_profile

OTHERS = base_and_charge_of_others("light-sleep")


def mean_ma(base_ma: float, charge_uc: float, period: int) -> float:
    return base_ma + charge_uc / (102.4 * period)


def test_two_measured_means_determine_the_base_current_and_the_beacon_charge_exactly():
    """0.3 mA and 102.4 uC draw 1.3 mA at DTIM 1 and 0.4 mA at DTIM 10, in either order."""
    for means in ({1: 1.3, 10: 0.4}, {10: 0.4, 1: 1.3}):
        assert estimate_base_and_charge(means, ()) == pytest.approx((0.3, 102.4))


@pytest.mark.parametrize("period", [1, 3, 10])
def test_one_measured_mean_is_reproduced_by_the_most_probable_base_current(period):
    """No slightly different division of the mean into base and charge is more probable."""
    measured = mean_ma(0.4, 130, period)
    base, charge = estimate_base_and_charge({period: measured}, OTHERS)
    assert mean_ma(base, charge, period) == pytest.approx(measured)
    profiles = np.log(OTHERS)
    inverse = np.linalg.inv(np.cov(profiles.T))

    def distance(base_ma: float) -> float:
        deviation = np.log([base_ma, (measured - base_ma) * period * 102.4]) - profiles.mean(axis=0)
        return float(deviation @ inverse @ deviation)

    assert distance(base) <= min(distance(0.99 * base), distance(1.01 * base))


def test_base_current_and_beacon_charge_correlate_over_the_eight_chips_of_the_prior():
    """The correlation is 0.92, as an independent review of the same tables reports."""
    assert len(OTHERS) == 8
    assert np.corrcoef(np.log(OTHERS).T)[0, 1] == pytest.approx(0.92, abs=0.01)
    assert len(base_and_charge_of_others("light-sleep", ["esp32-c3"])) == 7


def test_a_profile_estimated_from_measured_means_names_the_means_as_its_source():
    """The fitted values reproduce the mean, to the four digits of a profile."""
    profile = load_profile("esp32-c3:dtim_3=0.8")
    values = profile.values
    base, charge = values["power.asleep_w"] / 3.3e-3, values["power.beacon_j"] / 3.3e-6
    assert mean_ma(base, charge, 3) == pytest.approx(0.8, rel=1e-3)
    assert profile.interval == (0.87, 1.13)
    assert profile.origin["power.asleep_w"] == "derived: 0.8 mA at DTIM 3; prior of 7 other chips"
    assert load_profile("esp32-c3").interval == (0.86, 3.5)
    assert load_profile("esp32-c3:dtim_1=1.4").interval == (0.75, 1.25)
    assert load_profile("esp32-c3:dtim_1=1.4,dtim_10=0.31").interval == (0.94, 1.06)
    assert load_profile("esp32-c3:dtim_1=1.4,dtim_3=0.62").interval == (0.89, 1.11)
    assert (
        load_profile("nrf7002:dtim_1=1.2").values["power.asleep_w"]
        > load_profile("nrf7002").values["power.asleep_w"]
    )


def test_a_profile_file_states_the_interval_of_its_recording(tmp_path):
    path = tmp_path / "mine.toml"
    text = (
        "interval = [0.98, 1.02]\n[power]\nawake_w = 0.3\nasleep_w = 0.1\nbeacon_j = 0.0003\nsupply_v = 3.3\n"
    )
    path.write_text(text)
    assert load_profile(str(path)).interval == (0.98, 1.02)
    path.write_text(text.replace("[0.98, 1.02]", "[1.02, 0.98]"))
    with pytest.raises(InputError, match=r"interval must be 2 numbers >= 0 in ascending order"):
        load_profile(str(path))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("esp32-c3:dtim_1=1.4,dtim_10=1.5", "1.5 mA at DTIM 10 and 1.4 mA at DTIM 1 do not fit a base"),
        ("esp32-c3:dtim_0=1.4", "dtim_0 must be a mean current"),
        ("esp32-c3:dtim_3=-1", "dtim_3 must be a mean current"),
        ("esp32-c3:dtim_3=nan", "dtim_3 must be a mean current"),
        ("esp32-c3:dtim_1=3,dtim_2=2,dtim_3=1", "at most two measured means, got 3"),
        ("esp32-c3:dtm_3=1", "Unknown parameter 'dtm_3'.*'dtim_3'"),
    ],
)
def test_invalid_measured_means_are_an_error(spec, message):
    with pytest.raises(InputError, match=message):
        load_profile(spec)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--measured", "dtim=3: 1mA"], "--measured requires --profile"),
        (["--profile", "esp32", "--measured", "1.42"], "must be a DTIM period and a current"),
        (["--profile", "esp32", "--measured", "dtim=3: 1.42"], "must be a DTIM period and a current"),
        (["--profile", "esp32", "--measured", "dtim=3:1mA", "--measured", "dtim=3:2mA"], "given twice"),
    ],
)
def test_a_measured_mean_from_the_command_line_is_validated(words, message, capsys):
    assert main(["--policy", "psm", "--pages", "1", *words]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_a_measured_mean_from_the_command_line_changes_the_current(capsys):
    """The idle station draws the measured current; 1,000 uA are 1 mA."""
    words = ["--policy", "psm:listen_interval=3", "--no-baselines", "--trace", "idle", "--pages", "1"]
    words += ["--beacon-interval", "100", "--profile", "esp32-c3", "--format", "json"]
    currents_ma = []
    for measured in ("dtim=3: 0.9mA", "DTIM = 3 : 900 uA"):
        assert main([*words, "--measured", measured]) == 0
        currents_ma.append(json.loads(capsys.readouterr().out)["runs"][0]["mean_current_ma"])
    assert currents_ma[0] == currents_ma[1]
    assert math.isclose(currents_ma[0], 0.9, rel_tol=0.01)
