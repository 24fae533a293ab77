"""Validation: the simulator against measured hardware, and the committed report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from psm_sim.lab.studies import VALIDATIONS, load_study
from psm_sim.lab.studies.validation.hardware_measurements import measured_rows, validation_verdict
from psm_sim.lab.studies.validation.measured_dtim_currents import fitted_currents
from tests.lab.studies.committed import require_the_same

FOLDER = Path(__file__).resolve().parents[3] / "reports" / "validation"


def table(name: str, folder: Path = FOLDER) -> list[dict]:
    """Return the rows of the first table of a committed study."""
    found = json.loads((folder / "numbers.json").read_text(encoding="utf-8"))["studies"][name]["tables"][0]
    return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]


@pytest.mark.parametrize("name", VALIDATIONS)
def test_the_committed_validation_is_what_the_simulator_gives(name):
    """Run anew, and compared with ``reports/validation/quick.json``."""
    committed = json.loads((FOLDER / "quick.json").read_text(encoding="utf-8"))
    require_the_same(name, load_study(name), committed)


def test_dtim_3_is_predicted_within_5_5_per_cent_for_seven_radios():
    """C2, C3, C5 in both bands, C6, S3 and BL616; the rows that do not fit are shown."""
    rows = table("dtim")
    held = [row for row in rows if row["known to fit"] == "yes"]
    assert [row["chip"] for row in held] == [
        "ESP32-C2", "ESP32-C3", "ESP32-C5, 2.4 GHz", "ESP32-C5, 5 GHz", "ESP32-C6", "ESP32-S3", "BL616",
    ]  # fmt: skip
    assert all(abs(row["difference %"]) <= 5.5 for row in held)
    shown = {row["chip"]: row["verdict"] for row in rows if row["known to fit"] == "no"}
    assert shown["ESP32"] == "differs"
    assert shown["ESP32-S2"] == "no fit"


def test_a_duty_cycle_is_predicted_within_3_5_per_cent_on_all_eight_rows():
    """Nothing is fitted."""
    rows = table("duty-cycle")
    assert len(rows) == 8
    assert all(abs(row["difference %"]) <= 3.5 for row in rows)


def test_median_and_ninetieth_percentile_of_the_latency_agree_within_25_per_cent():
    """With one loss rate per row; p99 is shown."""
    rows = table("latency")
    assert len(rows) == 3
    assert all(abs(row[key]) <= 25 for row in rows for key in ("p50 %", "p90 %"))
    assert all("p99 %" in row for row in rows)


def test_a_fit_goes_through_its_two_points():
    """By hand: 1.4 and 0.31 mA at DTIM 1 and 10 are 0.189 mA and 124 uC; or a sleep current and DTIM 1."""
    row = next(row for row in measured_rows()["dtim"] if row["chip"] == "ESP32-C3")
    base, charge = fitted_currents(row)
    assert (base, 1000 * charge) == (pytest.approx(0.1889, abs=1e-4), pytest.approx(124.0, abs=0.1))
    assert fitted_currents({"ma": [1.1, 0.4], "sleep_ma": 0.1}) == (0.1, pytest.approx(0.1024))


def test_the_verdict_keeps_its_tolerance():
    """The largest difference counts."""
    assert validation_verdict("dtim", 5.5) == "agrees"
    assert validation_verdict("dtim", -5.6) == "differs"
    assert validation_verdict("latency", 3.0, 25.1) == "differs"
