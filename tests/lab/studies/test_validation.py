"""Validation: the simulator against measured hardware, and the committed report."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from psm_sim.lab.reporting.figures.figure_registry import draw
from psm_sim.lab.studies import VALIDATIONS, load_study
from psm_sim.lab.studies.study import QUICK
from psm_sim.lab.studies.study_runner import reproduce
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


def test_the_figure_of_currents_shows_each_predicted_row():
    """Of light sleep; rows without a fit have no predicted current."""
    (findings,) = reproduce({"dtim": load_study("dtim")}, QUICK, workers=1)
    figure, caption = draw("currents", findings.figures["currents"])
    (axes,) = figure.axes
    lines = [line for line in axes.get_lines() if str(line.get_label()).startswith("predicted")]
    shown = sum(np.size(line.get_xdata()) for line in lines)
    rows = [row for row in table("dtim") if row["mode"] == "light sleep"]
    assert shown == sum(row["verdict"] != "no fit" for row in rows)
    assert caption.endswith(".")


def test_dtim_3_is_judged_on_every_row():
    """Whether it was known to fit or not; what cannot be fitted is counted too."""
    rows = {(row["chip"], row["mode"]): row for row in table("dtim")}
    assert len(rows) == len(measured_rows()["dtim"]) == 35
    assert rows["ESP32", "light sleep"]["verdict"] == "differs"
    assert rows["ESP32-S2", "light sleep"]["verdict"] == "no fit"
    for row in rows.values():
        if row["verdict"] != "no fit":
            assert row["verdict"] == validation_verdict("dtim", row["difference %"])


def test_the_percentiles_that_were_fitted_are_not_counted_as_predicted():
    """One loss rate per row is fitted to p50 and p90; p99 is the prediction."""
    for row in table("latency"):
        assert row["p50 and p90, fitted"] == validation_verdict("latency", row["p50 %"], row["p90 %"])
        assert row["p99, predicted"] == validation_verdict("latency", row["p99 %"])


def test_the_page_of_results_repeats_the_tallies_of_the_report():
    """Each row of its table names the rows that agree, of all rows."""
    page = (FOLDER.parents[1] / "docs" / "results.md").read_text(encoding="utf-8")
    modes = [row for row in table("dtim") if row["mode"] == "light sleep"]
    for rows, key in (
        (modes, "verdict"),
        (table("duty-cycle"), "verdict"),
        (table("latency"), "p99, predicted"),
    ):
        agree = sum(row[key] == "agrees" for row in rows)
        assert f" | {agree} of {len(rows)} | " in page


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
