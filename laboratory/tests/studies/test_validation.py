"""The simulator compared with measured hardware, and the committed report."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from psm_lab.push_traffic import push_workload
from psm_lab.reporting.figures.figure_registry import draw
from psm_lab.studies import VALIDATIONS, load_study
from psm_lab.studies.study import FULL, QUICK
from psm_lab.studies.study_runner import reproduce
from psm_lab.studies.validation import (
    ADDED_MS,
    PERIODS,
    SCATTERED,
    beacon_ms,
    data_sheet_charge,
    fit_losses,
    fitted_currents,
    latency_percentiles,
    measured_rows,
    simulate_station,
    validation_verdict,
)

from psm_sim.simulation import Scenario

SAMPLED = {"duty-cycle", "latency"}
"""Studies that take long; test_stored_reports.py repeats a sample of their rows."""
FOLDER = Path(__file__).resolve().parents[3] / "reports" / "validation"


def table(name: str, number: int = 0) -> list[dict]:
    """Return the rows of a table of a committed study."""
    studies = json.loads((FOLDER / "numbers.json").read_text(encoding="utf-8"))["studies"]
    stored = studies[name]["tables"][number]
    return [dict(zip(stored["columns"], row, strict=True)) for row in stored["rows"]]


@pytest.mark.parametrize("name", [name for name in VALIDATIONS if name not in SAMPLED])
def test_the_committed_validation_agrees_with_the_simulator(name, require_the_same):
    """The studies run again, except those of which only a sample of rows does."""
    committed = json.loads((FOLDER / "numbers.json").read_text(encoding="utf-8"))
    require_the_same(name, load_study(name), committed, FULL)


def test_the_figure_of_currents_shows_each_simulated_row():
    """The rows are of light sleep; a row without a fit has no simulated current."""
    (findings,) = reproduce({"dtim": load_study("dtim")}, QUICK, workers=1)
    figure, caption = draw("currents", findings.figures["currents"])
    (axes,) = figure.axes
    lines = [line for line in axes.get_lines() if str(line.get_label()).startswith("simulated")]
    shown = sum(np.size(line.get_xdata()) for line in lines)
    rows = [row for row in table("dtim") if row["mode"] == "light sleep"]
    assert shown == sum(row["verdict"] != "no fit" for row in rows)
    assert caption.endswith(".")


def test_every_measured_current_of_a_data_sheet_is_predicted():
    """Each DTIM period with a measured value has a row, and its verdict follows from the tolerance."""
    rows = {(row["chip"], row["DTIM"]): row for row in table("data-sheet")}
    measured = {row["chip"]: row["ma"] for row in measured_rows()["dtim"] if row["mode"] == "light sleep"}
    chips = [sheet["chip"] for sheet in measured_rows()["data_sheet"]]
    expected = {
        (chip, period): ma for chip in chips for period, ma in zip(PERIODS, measured[chip], strict=False)
    }
    assert {key: row["measured"] for key, row in rows.items()} == expected
    for row in rows.values():
        assert row["verdict"] == validation_verdict("dtim", row["difference %"])


def test_the_current_of_a_data_sheet_equals_the_hand_computed_current():
    """The ESP32-C3 draws 0.13 mA asleep and 84 mA for 192 us and 149 B at 1 Mbit/s."""
    sheet = next(row for row in measured_rows()["data_sheet"] if row["chip"] == "ESP32-C3")
    assert beacon_ms(sheet) == pytest.approx(0.192 + 149 * 8 / 1000)
    assert data_sheet_charge(sheet) == pytest.approx((84 - 0.13) * 1.384e-3)
    rows = {row["DTIM"]: row for row in table("data-sheet") if row["chip"] == "ESP32-C3"}
    for period in (1, 3, 10):
        by_hand = 0.13 + 83.87 * 1.384 / (102.4 * period)
        assert rows[period]["simulated"] == pytest.approx(by_hand, rel=1e-3)  # a page ends the run


def test_fitted_percentiles_are_not_counted_as_predictions():
    """Losses are fitted to p50 and p90 of an hour; p99 and the next hour are predictions."""
    same, later = table("latency"), table("latency", 1)
    hours = measured_rows()["latency"]
    assert (len(same), len(later)) == (2 * len(hours), 2 * (len(hours) - 1))
    for row in same:
        assert row["p50 and p90, fitted"] == validation_verdict("latency", row["p50 %"], row["p90 %"])
        assert row["p99, predicted"] == validation_verdict("latency", row["p99 %"])
    for row in later:
        for name in ("p50", "p90", "p99"):
            assert row[f"{name}, predicted"] == validation_verdict("latency", row[f"{name} %"])


@pytest.mark.parametrize(("loss", "run"), [(0.0, 1.0), (0.5, 2.0), (0.4, 4.0)])
def test_the_latency_in_closed_form_agrees_with_the_simulator(loss, run):
    """The tolerance is the scatter of 3,600 probes. A mean run of 2 has independent losses of 0.5."""
    settings = {
        "beacon.interval_ms": 102.4,
        "beacon.loss": loss,
        **({"beacon.loss_run": run} if loss else {}),
    }
    trace = push_workload("clock", 1, 3, page_s=18000.0, period_s=5.0)
    scenario = Scenario(trace, pages=1, seed=3, settings=settings)
    (row,) = simulate_station("psm", scenario)
    simulated = [row[f"p{percent}_ms"] + ADDED_MS for percent in (50, 90, 99)]
    assert simulated == pytest.approx(latency_percentiles(loss, run).tolist(), rel=0.15)


@pytest.mark.parametrize(("loss", "run"), [(0.3, 2.5), (0.6, 4.0)])
def test_a_fit_recovers_the_losses_of_its_percentiles(loss, run):
    """Two percentiles determine both parameters."""
    assert fit_losses(latency_percentiles(loss, run).tolist(), "in runs") == (loss, run)


def test_base_current_and_beacon_charge_follow_from_two_mean_currents():
    """1.4 and 0.31 mA at DTIM 1 and 10 give 0.189 mA and 124 uC. A sleep current replaces one of them."""
    row = next(row for row in measured_rows()["dtim"] if row["chip"] == "ESP32-C3")
    base, charge = fitted_currents(row)
    assert (base, 1000 * charge) == (pytest.approx(0.1889, abs=1e-4), pytest.approx(124.0, abs=0.1))
    assert fitted_currents({"ma": [1.1, 0.4], "sleep_ma": 0.1}) == (0.1, pytest.approx(0.1024))


def test_the_verdict_is_on_the_largest_difference_and_its_tolerance():
    assert validation_verdict("dtim", 5.5) == "agrees"
    assert validation_verdict("dtim", -5.6) == "differs"
    assert validation_verdict("latency", 3.0, 25.1) == "differs"


def test_one_measured_mean_predicts_other_means_within_7_percent_and_two_within_2_5_percent():
    """The differences are medians without the two chips whose rows scatter."""
    tallies = {(row["given"], row["chips"]): row for row in table("calibration")}
    without = "without ESP32 and ESP32-S2"
    for means in ("DTIM 1", "DTIM 3", "DTIM 10"):
        assert tallies[means, without]["median %"] <= 7
        assert (tallies[means, without]["rows"], tallies[means, "all"]["rows"]) == (16, 20)
    assert tallies["DTIM 1 and 10", without]["median %"] <= 2.5
    rows = table("calibration", 1)
    assert len(rows) == 3 * 20 + 3 * 10
    assert all(row["verdict"] in ("agrees", "differs", "no fit") for row in rows)


def test_the_prediction_interval_covers_four_fifths_of_the_measured_means():
    """Without chips that scatter, 13 % after one mean and 6 % after two cover four fifths."""
    rows = [row for row in table("calibration", 1) if row["chip"] not in SCATTERED]
    for means, limit in (("DTIM 3", 13), ("DTIM 1 and 10", 6)):
        sizes = [abs(row["difference %"]) for row in rows if row["given"] == means]
        assert np.mean(np.array(sizes) <= limit) >= 0.8


def test_minimum_currents_suffice_to_predict_the_chip_with_two_sleep_states():
    """The ESP32-S2 has no base and charge otherwise."""
    (row,) = (row for row in table("dtim") if row["chip"] == "ESP32-S2" and row["mode"] == "light sleep")
    assert abs(row["difference %"]) < 0.5
