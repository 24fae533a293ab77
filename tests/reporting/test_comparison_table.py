"""Tables by kind of traffic: columns, captions and number formats."""

from __future__ import annotations

import dataclasses
import io
import math
import re

import pytest

import psm_sim
from psm_sim.reporting.columns import BEACONS_RANK, latex_table, plain_rows, text_column
from psm_sim.reporting.comparison_table import ResultTable, caption, tables_of, write_latex
from psm_sim.simulation import BASELINES, Comparison, References, Scenario, run_comparison
from psm_sim.simulation.comparison import Roles

REFERENCES = References(BASELINES, BASELINES[1:])


def headings(table: ResultTable) -> list[str]:
    """Return the headings of the columns."""
    return [column.heading for column in table.columns]


def cells(table: ResultTable, heading: str) -> list[str]:
    """Return the numbers of a column."""
    return next(column.cells for column in table.columns if column.heading == heading)


@pytest.fixture(scope="module")
def device() -> Comparison:
    """Return a device without page views, with a chip and a battery."""
    return psm_sim.compare(["lpsm"], "ping", pages=1, profile="esp32", battery="2000mAh")


def test_the_table_of_pages_has_the_energy_and_the_slowdown(comparison: Comparison) -> None:
    (table,) = tables_of(comparison)
    values = {
        "energy (J)": lambda run: run.energy_per_page_j,
        "page time mean (s)": lambda run: run.page_time_s.mean,
        "page time p90 (s)": lambda run: run["page_time_percentiles_s.p90"],
        "slowdown mean": lambda run: run.slowdown.mean,
        "slowdown max": lambda run: run.slowdown.max,
        "awake (J)": lambda run: run["energy_by_state_per_page_j.awake"],
        "beacons received": lambda run: run["beacons_per_page"],
    }
    for heading, value in values.items():
        expected = [value(run) for run in comparison.shown]
        assert list(map(float, cells(table, heading))) == pytest.approx(expected, rel=0.02, abs=0.006)


def test_the_table_of_devices_has_the_current_and_the_latency(device: Comparison) -> None:
    (table,) = tables_of(device)
    assert headings(table)[:2] == ["current (mA)", "battery (days)"]
    assert {"RTT up p50 (ms)", "RTT up p99 (ms)"} <= set(headings(table))
    assert not re.search("page|slowdown|energy", " ".join([*headings(table), *caption(device)[:2]]))
    for run, days, p99 in zip(
        table.runs, cells(table, "battery (days)"), cells(table, "RTT up p99 (ms)"), strict=True
    ):
        assert run["battery_days"] == pytest.approx(float(days), abs=0.051)
        assert 1000 * run["latency.round_trip_up.latency_s.p99"] == pytest.approx(
            float(p99.replace(",", "")), abs=0.51
        )
    assert "10.0 minutes of trace ping" in "\n".join(caption(device))


def test_power_is_in_milliwatts_if_no_voltage_is_known() -> None:
    comparison = run_comparison(["psm"], Scenario("ping", pages=1), references=REFERENCES)
    (table,) = tables_of(comparison)
    assert headings(table)[0] == "power (mW)"
    psm = comparison.baselines[1]
    assert float(cells(table, "power (mW)")[1]) == pytest.approx(psm["mean_power_mw"], rel=0.01)


def test_stations_with_and_without_pages_have_separate_tables() -> None:
    stations = [{"name": "reader", "count": 1}, {"name": "sensor", "count": 1, "trace": "ping"}]
    comparison = psm_sim.compare(["psm"], topology={"mac.model": "dcf", "stations": stations}, pages=1)
    first, second = tables_of(comparison)
    assert {run.station for run in first.runs} == {"reader"}
    assert {run.station for run in second.runs} == {"sensor"}
    assert "slowdown mean" in headings(first)
    assert "power (mW)" in headings(second)


@pytest.mark.parametrize("trace", ["ucb", "mqtt", "push", "phone"])
def test_no_column_of_the_table_is_constant(trace: str) -> None:
    comparison = run_comparison(["bsd", "lpsm"], Scenario(trace, pages=2), references=REFERENCES)
    for table in tables_of(comparison):
        assert table.columns
        for column in table.columns:
            assert not column.is_constant
        losses = [value for run in table.runs for name, value in run.row.items() if name.endswith(".loss")]
        if not all(map(math.isnan, losses)):
            assert re.search("lost", " ".join([*headings(table), *table.constants]))


def test_numbers_equal_in_all_rows_are_stated_in_the_caption() -> None:
    comparison = run_comparison(["psm", "psm:listen_interval=1"], Scenario(pages=2))
    (table,) = tables_of(comparison)
    assert table.columns == []
    assert re.match(r"Equal in all rows: energy \d\.\d+ J, page time mean", table.constants[0])
    assert plain_rows(table.main_columns)[1:] == [["psm"], ["psm:listen_interval=1"]]
    alone = run_comparison(["psm"], Scenario(pages=2))
    assert "energy (J)" in headings(tables_of(alone)[0])
    device = run_comparison(["psm"], Scenario("ping", pages=1))
    assert "power (mW)" in headings(tables_of(device)[0])
    assert tables_of(device)[0].constants == ["No message was lost."]


def test_lost_messages_have_a_column_and_their_absence_is_stated(device: Comparison) -> None:
    assert "No message was lost." in caption(device)

    def with_losses(*losses: int) -> Comparison:
        first, always_on = device.runs[0].blocks[0], device.always_on.blocks[0]
        sent, _, latencies_s = first.messages["round_trip_up"]
        blocks = [
            dataclasses.replace(
                first,
                keys=first.keys | {"number": number},
                messages={"round_trip_up": (sent, lost, latencies_s)},
            )
            for number, lost in enumerate(losses)
        ]
        return dataclasses.replace(device, blocks=[always_on, *blocks], roles=Roles([0, 1], [], []))

    equal = with_losses(60, 60)
    (share,) = re.findall(r"Equal in all rows: .*RTT up lost (\S+) %", "\n".join(caption(equal)))
    (loss,) = {run["latency.round_trip_up.loss"] for run in equal.runs}
    assert float(share) == pytest.approx(100 * loss, abs=0.006)
    (table,) = tables_of(with_losses(60, 0))
    assert cells(table, "RTT up lost (%)") == [share, "0.00"]
    assert table.constants[0].startswith("Equal in all rows: current")


def test_failed_pages_have_a_column_and_their_absence_is_stated() -> None:
    settings = {"faults.wireless.loss": 0.05, "browser.max_page_s": 3}
    comparison = run_comparison(["lpsm"], Scenario(pages=10, settings=settings), references=REFERENCES)
    assert "pages failed" in headings(tables_of(comparison)[0])
    settings["faults.wireless.loss"] = 0.0001
    settings["browser.max_page_s"] = 1000
    comparison = run_comparison(["lpsm"], Scenario(pages=2, settings=settings), references=REFERENCES)
    assert "pages failed" not in headings(tables_of(comparison)[0])
    assert "No page failed." in caption(comparison)
    assert not any("Equal in all rows: pages" in line for line in caption(comparison))


def test_the_saving_is_relative_to_the_reference(replicated: Comparison) -> None:
    """The saving is in per cent, or a ratio if the energy is more than twice that of the reference."""
    (table,) = tables_of(replicated)
    saved = next(column for column in table.columns if column.measure == "saved")
    ratio, psm, _, bsd = saved.cells
    runs = {run.policy: run for run in replicated.shown}
    pairs = [
        (run.energy_per_page_j, psm_run.energy_per_page_j)
        for run, psm_run in zip(runs["bsd:p=0.5"].parts, runs["psm"].parts, strict=True)
    ]
    assert float(bsd) == pytest.approx(sum(100 * (1 - own / other) for own, other in pairs) / 3, abs=0.051)
    assert float(psm) == 0
    assert re.fullmatch(r"1\d\.\dx", ratio)
    assert list(saved.half_widths[:2]) == ["", ""]
    assert f"{ratio} means that many times its energy" in "\n".join(caption(replicated))


def test_the_caption_has_the_scenario(comparison: Comparison) -> None:
    """The scenario is seed, pages, trace, topology, settings, and the length and origin of pages."""
    scenario = dataclasses.replace(comparison.scenario, settings={"power.awake_w": "1"})
    text = "\n".join(caption(dataclasses.replace(comparison, scenario=scenario)))
    assert "5 pages of trace ucb, seed 3, topology three-node, power.awake_w=1." in text
    assert "ucb: synthetic pages" in text
    assert "Slowdown is page time relative to no power saving." in text
    run = comparison.runs[0]
    assert f"per page view of {run['simulated_s'] / 5:.0f} s on average, think time included" in text
    assert "1 page of trace" in "\n".join(caption(run_comparison(["psm"], Scenario(pages=1))))


def test_notebooks_show_the_main_columns_and_the_labels_of_policies(
    replicated: Comparison, device: Comparison
) -> None:
    for comparison in (replicated, device):
        html = comparison._repr_html_()
        assert all(
            f">{column.heading}<" in html
            for column in tables_of(comparison)[0].columns
            if column.rank < BEACONS_RANK
        )
    labelled = psm_sim.compare(["dynamic:stack=esp-idf,listen_interval=3,label=idf"], pages=1)
    assert "<td>idf</td>" in labelled._repr_html_()


@pytest.mark.parametrize("trace", ["ucb", "ping"])
def test_a_radio_whose_powers_are_all_0_has_a_table(trace: str) -> None:
    """No energy is saved, and no column divides by the energy."""
    settings = {"power.awake_w": 0, "power.asleep_w": 0, "power.beacon_j": 0}
    comparison = run_comparison(["lpsm"], Scenario(trace, pages=1, settings=settings), references=REFERENCES)
    shown = "energy 0.0 J" if trace == "ucb" else "power 0.0 mW"
    assert shown in "\n".join(caption(comparison))


def test_the_latex_table_has_the_columns_and_numbers_of_the_html_table(replicated: Comparison) -> None:
    """The sentences of the caption are comments."""
    stream = io.StringIO()
    write_latex(replicated, stream)
    lines = stream.getvalue().splitlines()
    comments = [line for line in lines if line.startswith("% ")]
    (table,) = tables_of(replicated)
    assert comments[0] == f"% {replicated.conclusion()}"
    begin, top, *rows, bottom, end = lines[len(comments) :]
    assert begin == f"\\begin{{tabular}}{{l{'r' * len(table.main_columns[1:])}}}"
    assert (top, rows.pop(1), bottom, end) == ("\\toprule", "\\midrule", "\\bottomrule", "\\end{tabular}")
    plain = [
        row.removesuffix(" \\\\").replace("$\\pm$", "±").replace("\\%", "%").split(" & ") for row in rows
    ]
    assert [[cell.replace("$", "") for cell in row] for row in plain] == plain_rows(table.main_columns)


def test_names_are_escaped_in_latex() -> None:
    names = ["50% & $x_1$ #{y}", "a\\b~c^2", "<|>", "-1.5"]
    _, _, _, _, *rows, _, _ = latex_table([text_column("policy", names)]).splitlines()
    assert rows == [
        r"50\% \& \$x\_1\$ \#\{y\} \\",
        r"a\textbackslash{}b\textasciitilde{}c\textasciicircum{}2 \\",
        r"$<$$|$$>$ \\",
        r"$-$1.5 \\",
    ]
