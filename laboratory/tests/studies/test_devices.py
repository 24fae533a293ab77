"""Study of devices: hand-computed rows, and the crossover of DTIM and TWT."""

from __future__ import annotations

import pytest
from psm_lab.reporting.figures.figure_registry import draw
from psm_lab.studies import devices, load_study
from psm_lab.studies.devices import delay_s, run_policies
from psm_lab.studies.study import Findings, Scale
from psm_lab.studies.study_runner import reproduce

from psm_sim.simulation import Scenario, simulate


@pytest.fixture(scope="module")
def findings() -> Findings:
    """Return the findings with two chips, two kinds of traffic and few policies."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(devices, "CHIPS", ("", "esp32-c6"))
        patch.setattr(devices, "_HOURS", 2.0)
        patch.setattr(devices, "TRAFFIC", {"ucb": "ucb", "mqtt": "mqtt"})
        patch.setattr(devices, "POLICIES", ("always-on", "psm", "dynamic:stack=linux"))
        (result,) = reproduce({"devices": load_study("devices")}, Scale(1, 3, 3), workers=1)
    return result


def test_a_small_run_gives_every_table_and_both_figures(findings: Findings) -> None:
    assert [table.frame.shape[0] for table in findings.tables] == [3, 3, 3, 8]
    assert len(findings.remarks) == 3
    assert all(draw(key, frame) for key, frame in findings.figures.items())


def test_twt_and_dtim_draw_equal_charge_per_time_at_the_crossover(findings: Findings) -> None:
    """A period costs 15.042 ms awake, and a beacon its charge: T = D x 102.4 ms x the ratio, within 1 %."""
    table = findings.tables[-1].frame
    for chip, ratio in (
        ("nrf7002", 0.1927 * 15.042e-3 / 0.0002871),
        ("esp32-c6", 0.3399 * 15.042e-3 / 0.0002805),
    ):
        mine = table[table["chip"] == chip]
        expected = [0.1024 * period * ratio for period in mine["DTIM period"]]
        assert mine["same power: TWT interval, s"].tolist() == pytest.approx(expected, rel=0.01)


def test_the_delay_is_the_latency_of_messages_to_the_station_or_else_the_page_time():
    mqtt, pages = simulate("psm", "mqtt", pages=1), simulate("psm", pages=2)
    assert delay_s(mqtt) == mqtt["latency.round_trip_down.latency_s.mean"]
    assert delay_s(pages) == pages.page_time_s.mean
    (row,) = run_policies(["psm"], Scenario(pages=2))
    assert row["mw"] == pytest.approx(pages["mean_power_mw"])
    assert row["delay_ms"] > 0
