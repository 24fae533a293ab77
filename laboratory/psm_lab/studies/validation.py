"""Validation of the simulator against measured hardware: currents, latencies and ping times.

Each study is a :class:`Validation`. Its cases are simulations, each labelled with a measured row, and its
tables are computed from the rows of the cases. ``measured.toml`` has the measurements, their sources and all
texts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from psm_lab.push_traffic import push_workload
from psm_lab.studies.published_claims import judge, tally_rows
from psm_lab.studies.study import Findings, Scale, Table
from psm_lab.studies.tasks import Row, Rows, Task
from psm_sim.common.errors import InputError
from psm_sim.common.summary_stats import Interval
from psm_sim.network.chip_estimation import BEACON_MS, dozing_ratios_after, estimate_base_and_charge
from psm_sim.network.chip_profiles import base_and_charge_of_others
from psm_sim.network.parts.frame_timing import FrameTiming
from psm_sim.network.topology_sections import MacParameters
from psm_sim.policies import Policy, Poll, Rest
from psm_sim.simulation import Scenario
from psm_sim.simulation.run import execute, prepare_stations, station_setups
from psm_sim.simulation.table import measure
from psm_sim.workload import Page, Workload

SUPPLY_V = 3.3
"""Supply of the radios. Between 1.8 and 5 V, the mean currents differ by less than a millionth."""
PERCENTILES = (50, 90, 99)
"""Percentiles of the delays."""


@cache
def measured_rows() -> dict[str, Any]:
    """Return the content of ``measured.toml``."""
    return tomllib.loads(Path(__file__).with_name("measured.toml").read_text(encoding="utf-8"))


RULE = measured_rows()["rule"]


def station_task(policy: str | Policy, scenario: Scenario, row: Row) -> Task:
    """Return the simulation of one station, labelled with a measured *row*."""
    return Task("station", simulate_station, {"policy": policy, "scenario": scenario}, labels=row)


def simulate_station(policy: str | Policy, scenario: Scenario) -> list[Row]:
    """Return the mean current in mA and, if there are datagrams, statistics of their delays in ms."""
    stations = station_setups(scenario, scenario.resolve_topology())
    (run,) = runs = prepare_stations(policy, stations)
    row: Row = {"mean_ma": measure(execute(runs, stations, policy)[0]).get("mean_current_ma")}
    if run.world.messenger is not None and run.world.messenger.delays_s:
        delays_ms = 1000 * np.array(run.world.messenger.delays_s)
        row |= {f"p{percent}_ms": float(np.percentile(delays_ms, percent)) for percent in PERCENTILES}
        row |= {"mean_ms": float(delays_ms.mean()), "maximum_ms": float(delays_ms.max())}
    return [row]


@dataclass(frozen=True)
class Validation:
    """Study that compares measured rows with simulated ones.

    ``cases`` returns the cases for a number of hours of probes and a seed. ``findings`` computes
    remarks, tables and figures from the measured and simulated rows.
    """

    study: str
    cases: Callable[[float, int], Iterable[Task]]
    findings: Callable[[list[Row]], dict[str, Any]]

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return the cases."""
        return list(self.cases(_hours(scale), seed))

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Compare the simulated with the measured values."""
        computed = self.findings(rows.of("station"))
        texts = measured_rows()["study"][self.study]
        omitted = [row for row in measured_rows()["not_compared"] if row["study"] == self.study]
        if omitted:
            table = pd.DataFrame(omitted)[["source", "reason"]]
            computed["tables"].append(Table("Sources that are not compared", table))
        return Findings(
            self.study,
            texts["title"],
            texts["setting"].format(hours=_hours(scale), seed=seed),
            computed["remarks"] + texts.get("sources", []),
            texts["commentary"],
            computed["tables"],
            figures=computed.get("figures", {}),
        )


def _hours(scale: Scale) -> float:
    return 10.0 if scale.full else 2.0


def per_cent(ours: float, measured: float) -> float:
    """Return the difference of the simulated value *ours* from *measured*, in per cent of *measured*."""
    return 100 * (ours / measured - 1)


def validation_verdict(kind: str, *differences: float) -> str:
    """Return ``agrees`` if no difference in per cent exceeds the tolerance of this *kind*, or ``differs``."""
    tolerance = measured_rows()["tolerance"][kind] + 1e-9  # a difference equal to the tolerance agrees
    verdicts = {judge(Interval(difference, 0.0, 1), -tolerance, tolerance) for difference in differences}
    return "agrees" if verdicts == {"agrees"} else "differs"


def compared(kind: str, ours: float, measured: float) -> Row:
    """Return the columns that compare two values."""
    difference = per_cent(ours, measured)
    verdict = validation_verdict(kind, difference)
    return {"measured": measured, "simulated": ours, "difference %": difference, "verdict": verdict}


def _idle(hours: float, settings: Mapping[str, Any], profile: str = "") -> Scenario:
    """Return a scenario of *hours* h without traffic, which ends with one small page."""
    page = Page(3600 * hours, 1000, (), (300,), (0.0,))
    workload = Workload("idle", (page,), True, f"{hours:g} h without traffic")
    return Scenario(workload, settings=dict(settings), profile=profile)


def _radio(awake_ma: float, asleep_ma: float, beacon_mc: float, **beacon: float) -> dict[str, Any]:
    """Return the settings of a radio with these currents and charge per beacon, at 3.3 V."""
    watts = {"awake_w": awake_ma * SUPPLY_V / 1000, "asleep_w": asleep_ma * SUPPLY_V / 1000}
    power = {**watts, "beacon_j": beacon_mc * SUPPLY_V / 1000, "supply_v": SUPPLY_V}
    sections = {"power": power, "beacon": beacon}
    return {f"{name}.{key}": value for name, keys in sections.items() for key, value in keys.items()}


def _dtim_case(row: Row, base_ma: float, charge_mc: float, period: int) -> Task:
    """Return the case of a station idle for 100 h, of which its page takes less than a thousandth."""
    settings = _radio(300 / SUPPLY_V, base_ma, charge_mc, interval_ms=BEACON_MS, dtim_period=period)
    return station_task(f"psm:listen_interval={period}", _idle(100, settings), row)


# Mean currents predicted from data sheets

PERIODS = (1, 3, 10)
"""DTIM periods of the data sheets."""
LONGER_BYTES = 225
"""Size of a beacon in bytes, measured at an 802.11n access point."""


def beacon_ms(row: Mapping[str, Any], beacon_bytes: int | None = None) -> float:
    """Return the time for which the chip of *row* receives one beacon, in ms.

    The time is stated by the data sheet, or else is the air time of a beacon of *beacon_bytes* bytes. A size
    of None selects the default 802.11n beacon of the simulator.
    """
    if "wake_ms" in row:
        return float(row["wake_ms"])
    rate = row["beacon_mbps"]
    mac = MacParameters(model="dcf", standard="802.11n", beacon_mbps=rate, beacon_bytes=beacon_bytes)
    return 1000 * FrameTiming(mac).beacon_s


def data_sheet_charge(row: Mapping[str, Any], beacon_bytes: int | None = None) -> float:
    """Return the charge in mC that a beacon adds; see :func:`beacon_ms` for the arguments."""
    return float((row["receive_ma"] - row["sleep_ma"]) * beacon_ms(row, beacon_bytes) / 1000)


def _data_sheet_cases(_: float, __: int) -> Iterable[Task]:
    measured = {row["chip"]: row["ma"] for row in measured_rows()["dtim"] if row["mode"] == "light sleep"}
    for sheet in measured_rows()["data_sheet"]:
        for period, ma in zip(PERIODS, measured[sheet["chip"]], strict=False):  # some rows end at DTIM 3
            for size in (None, LONGER_BYTES):
                row = {"chip": sheet["chip"], "DTIM": period, "ma": ma, "bytes": size}
                yield _dtim_case(row, sheet["sleep_ma"], data_sheet_charge(sheet, size), period)
    for row in measured_rows()["profile_current"]:
        yield station_task(row["policy"], _idle(100, {"beacon.interval_ms": BEACON_MS}, row["profile"]), row)


def _data_sheet_findings(cases: list[Row]) -> dict[str, Any]:
    longer = f"difference with {LONGER_BYTES} B, %"
    rows: list[Row] = []
    profiles: list[Row] = []
    for row in cases:
        columns = compared("dtim", row["mean_ma"], row["ma"])
        if "setting" in row:
            own = {"setting": row["setting"], "policy": row["policy"]}
            profiles.append({**own, **columns, "source": row["source"]})
        elif row["bytes"] is None:
            rows.append({"chip": row["chip"], "DTIM": row["DTIM"], **columns})
        else:
            rows[-1][longer] = columns["difference %"]
    frame, of_profiles = pd.DataFrame(rows), [row["verdict"] for row in profiles]
    others = frame["verdict"][~frame["chip"].str.startswith("ESP8266")]
    sizes = frame["difference %"].abs()
    names = {"chip": "chip", "sleep_ma": "asleep mA", "receive_ma": "receiving mA"}
    sheets = pd.DataFrame(
        {name: row[key] for key, name in names.items()}
        | {"beacon ms": beacon_ms(row), "source": row["source"]}
        for row in measured_rows()["data_sheet"]
    )
    title = "Mean current of a Pico W (CYW43439) with the currents of its data sheet, in mA"
    return {
        "remarks": [
            f"Predicted: {tally_rows([*frame['verdict'], *of_profiles])}.",
            (
                "Without the ESP8266, whose measured currents may have been computed from the same numbers:"
                f" {tally_rows([*others, *of_profiles])}."
            ),
            (
                f"The differences at DTIM 1, 3 and 10 have a median of {sizes.median():.0f} % and a maximum"
                f" of {sizes.max():.0f} %. With beacons of {LONGER_BYTES} B the median is"
                f" {frame[longer].abs().median():.0f} %."
            ),
        ],
        "tables": [
            Table("Measured and simulated mean current in mA", frame),
            Table(title, pd.DataFrame(profiles)),
            Table("Data sheets", sheets),
        ],
    }


DATA_SHEET = Validation("data-sheet", _data_sheet_cases, _data_sheet_findings)

# Mean currents at DTIM 3, interpolated between two points that calibrate the model


def fitted_currents(row: Mapping[str, Any]) -> tuple[float, float]:
    """Return the base current in mA and the charge per beacon in mC of a *row*.

    Both are fitted to DTIM 1 and 10, or to the sleep current and DTIM 1 if the row has a sleep current. The
    base current applies to DTIM 3 and may differ from the least current of the waveform.
    """
    first, interval_s = row["ma"][0], BEACON_MS / 1000
    if "sleep_ma" in row:
        return row["sleep_ma"], (first - row["sleep_ma"]) * interval_s
    least = row.get("least_ma", [0.0, 0.0, 0.0])
    above = [ma - floor for ma, floor in zip(row["ma"], least, strict=True)]
    charge = (above[0] - above[2]) * interval_s / (1 - 1 / 10)
    return least[1] + above[0] - charge / interval_s, charge


def _dtim_cases(_: float, __: int) -> Iterable[Task]:
    fits = [(row, *fitted_currents(row)) for row in measured_rows()["dtim"]]
    return [_dtim_case(row, base, charge, 3) for row, base, charge in fits if charge >= 0]


def _dtim_findings(cases: list[Row]) -> dict[str, Any]:
    simulated = {(row["chip"], row["mode"]): row["mean_ma"] for row in cases}
    rows = []
    for row in measured_rows()["dtim"]:
        (base, charge), name = fitted_currents(row), (row["chip"], row["mode"])
        columns = compared("dtim", simulated.get(name, float("nan")), row["ma"][1])
        rows.append(
            {
                "chip": row["chip"],
                "mode": row["mode"],
                "fit": "sleep and DTIM 1" if "sleep_ma" in row else "DTIM 1 and 10",
                "base mA": base,
                "uC per beacon": 1000 * charge,
                "DTIM 1": row["ma"][0],
                "DTIM 3": columns["measured"],
                "simulated, DTIM 3": columns["simulated"],
                "difference %": columns["difference %"],
                "verdict": columns["verdict"] if name in simulated else "no fit",
            }
        )
    frame = pd.DataFrame(rows)
    light, verdicts = frame["mode"] == "light sleep", frame["verdict"]
    shown = frame[light & (verdicts != "no fit")]
    shown = shown.rename(columns={"chip": "label", "DTIM 3": "measured", "simulated, DTIM 3": "ours"})
    shown = shown[["label", "measured", "ours", "verdict"]]
    return {
        "remarks": [
            (
                f"Calibrated, in light sleep: {tally_rows(verdicts[light])}. Calibrated, in modem sleep:"
                f" {tally_rows(verdicts[~light])}."
            )
        ],
        "tables": [Table("Measured and simulated mean current in mA", frame)],
        "figures": {"currents": shown.assign(tolerance=measured_rows()["tolerance"]["dtim"])},
    }


DTIM = Validation("dtim", _dtim_cases, _dtim_findings)

# Mean currents predicted from one or two measured means of the same row

GIVEN = ((3,), (1,), (10,), (1, 10), (1, 3), (3, 10))
"""DTIM periods whose means are given, the recommended ones first."""

SCATTERED = ("ESP32", "ESP32-S2")
"""Chips tallied separately, because their rows scatter or belong to two sleep states."""


def _calibration_cases(_: float, __: int) -> Iterable[Task]:
    for row in measured_rows()["dtim"]:
        if row["mode"] != "light sleep" or len(row["ma"]) < len(PERIODS):
            continue
        means = dict(zip(PERIODS, row["ma"], strict=True))
        chip = row["chip"].partition(",")[0].lower()
        others = base_and_charge_of_others("light-sleep", (chip, f"{chip}-5ghz"))
        for given in GIVEN:
            try:
                base, charge = estimate_base_and_charge({each: means[each] for each in given}, others)
            except InputError:
                base, charge = 0.0, 0.0  # marks a row without a simulated current
            for period in sorted(means.keys() - set(given)):
                labels = {"given": "DTIM " + " and ".join(map(str, given)), "chip": row["chip"]}
                labels |= {"DTIM": period, "ma": means[period], "fits": base > 0}
                yield _dtim_case(labels, base, charge / 1000, period)


def _calibration_findings(cases: list[Row]) -> dict[str, Any]:
    rows = []
    for row in cases:
        columns = compared("dtim", row["mean_ma"] if row["fits"] else float("nan"), row["ma"])
        columns |= {} if row["fits"] else {"verdict": "no fit"}
        rows.append({name: row[name] for name in ("given", "chip", "DTIM")} | columns)
    frame = pd.DataFrame(rows)
    tallies: list[Row] = []
    for given, group in frame.groupby("given", sort=False):
        for name, part in (("all", group), ("others", group[~group["chip"].isin(SCATTERED)])):
            sizes = part["difference %"].abs().dropna()
            columns = {"rows": len(part), "without a fit": int((part["verdict"] == "no fit").sum())}
            columns |= {"median %": sizes.median(), "80th percentile %": sizes.quantile(0.8)}
            columns |= {"maximum %": sizes.max()}
            low, high = dozing_ratios_after([int(each) for each in re.findall(r"\d+", str(given))])
            within = (part["measured"] / part["simulated"]).between(low, high).sum()
            columns |= {"interval %": round(100 * (high - 1)), "within": int(within)}
            chips = "all" if name == "all" else f"without {' and '.join(SCATTERED)}"
            tallies.append({"given": given, "chips": chips} | columns)
    tally = pd.DataFrame(tallies)
    best = {row["given"]: row["median %"] for row in tallies if row["chips"] != "all"}
    return {
        "remarks": [
            (
                f"Calibrated by the mean at DTIM 3, the others differ by {best['DTIM 3']:.1f} % in the median"
                f" without {' and '.join(SCATTERED)}; by those at DTIM 1 and 10, by"
                f" {best['DTIM 1 and 10']:.1f} %."
            )
        ],
        "tables": [
            Table("Differences by the means that are given, in per cent", tally),
            Table("Measured and simulated mean current in mA", frame),
        ],
    }


CALIBRATION = Validation("calibration", _calibration_cases, _calibration_findings)

# Mean current of duty cycles, without fitted parameters


@dataclass
class DutyCycle(Policy):
    """Policy that stays awake for ``window_ms`` after every beacon."""

    name: ClassVar[str] = "window"
    window_ms: float = 75.0

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Stay awake for the rest of the window. See :class:`~psm_sim.policies.Policy` for the arguments."""
        start_s = self.beacon_grid.time(self.beacon_grid.after(now_s) - 1)
        return Rest(max(0.0, start_s + self.window_ms / 1000 - now_s))


def _duty_cases(_: float, __: int) -> Iterable[Task]:
    for row in measured_rows()["duty"]:
        for window, interval, ma in row["windows"]:
            labels = {"chip": row["chip"], "window": f"{window:g} of {interval:g} ms", "ma": ma}
            settings = _radio(row["on_ma"], row["off_ma"], 0.0, interval_ms=float(interval))
            yield station_task(DutyCycle(window), _idle(2, settings), labels)


def _duty_findings(cases: list[Row]) -> dict[str, Any]:
    frame = pd.DataFrame(
        {name: row[name] for name in ("chip", "window")} | compared("duty-cycle", row["mean_ma"], row["ma"])
        for row in cases
    )
    return {
        "remarks": [f"Predicted: {tally_rows(frame['verdict'])}."],
        "tables": [Table("Measured and simulated mean current in mA", frame)],
    }


DUTY_CYCLE = Validation("duty-cycle", _duty_cases, _duty_findings)

# Latency of a probe every 5 s, with the beacon losses fitted to each hour

ADDED_MS = 5.94
"""Median latency measured with power saving off, which is added to the simulated latency."""

MODELS = {"in runs": "Losses in runs", "independent": "Independent losses"}
"""Models of the losses, with their names in sentences. The loss rate varies in time only in the first one."""

# Grid of the fit: losses of 0 to 0.95, and mean runs of 1 to 20 beacons.
_LOSSES, _RUNS = np.arange(96) / 100, np.arange(10, 201) / 10


def latency_percentiles(loss: ArrayLike, run: ArrayLike) -> NDArray[np.float64]:
    """Return the 50th, 90th and 99th percentile of the latency in ms, along the last axis.

    A probe arrives at a random time between two beacons and waits for the first beacon that is received. The
    simulator gives the same values, except for the time on the channel.

    Parameters
    ----------
    loss, run : array_like
        Probability that a beacon is lost, and mean number of beacons that are lost in a row.
    """
    loss, run = np.asarray(loss, float)[..., None], np.asarray(run, float)[..., None]
    later = 1 - np.array(PERCENTILES) / 100  # share of the probes that wait longer
    with np.errstate(divide="ignore", invalid="ignore"):  # np.where discards the invalid values
        lost = np.floor(np.log(later / loss) / np.log(1 - 1 / run)) + 1
        longer = loss * (1 - 1 / run) ** (lost - 1)  # share of the probes with as many lost beacons or more
        beacons = np.where(later < loss, lost + (1 - later / longer) * run, (1 - later) / (1 - loss))
    return np.asarray(BEACON_MS * beacons + ADDED_MS)


def fit_losses(ms: Sequence[float], model: str) -> tuple[float, float]:
    """Return the loss and the mean run that minimise the larger difference of p50 and p90.

    *ms* are the measured percentiles. Independent losses have a mean run of 1 / (1 - loss).
    """
    losses, runs = np.meshgrid(_LOSSES, _RUNS, indexing="ij")
    if model == "independent":
        losses, runs = _LOSSES, 1 / (1 - _LOSSES)
    differences = np.abs(latency_percentiles(losses, runs)[..., :2] / np.array(ms[:2]) - 1).max(axis=-1)
    best = int(np.argmin(differences))
    return round(float(losses.flat[best]), 2), round(float(runs.flat[best]), 3)


def _latency_cases(hours: float, seed: int) -> Iterable[Task]:
    trace = push_workload("clock", 1, seed, page_s=3600 * hours, period_s=5.0)
    for row in measured_rows()["latency"]:
        for model in MODELS:
            loss, run = fit_losses(row["ms"], model)
            settings = {"beacon.interval_ms": BEACON_MS, "beacon.loss": loss}
            if model == "in runs" and loss:
                settings["beacon.loss_run"] = run
            labels = {**row, "losses": model, "loss": loss, "mean run": run}
            yield station_task("psm", Scenario(trace, pages=1, seed=seed, settings=settings), labels)


def _latency_findings(cases: list[Row]) -> dict[str, Any]:
    same, later, remarks = [], [], []
    for model, name in MODELS.items():
        own = [row for row in cases if row["losses"] == model]
        hours = pd.DataFrame(_judge_hour(row, row) for row in own)
        next_hours = pd.DataFrame(_judge_hour(row, fitted) for fitted, row in pairwise(own))
        p99 = hours["p99, predicted"].tolist()
        predicted = [verdict for name in _NAMES for verdict in next_hours[f"{name}, predicted"]]
        remarks.append(
            f"{name}, predicted: {tally_rows([*p99, *predicted])} (p99 of the same hour:"
            f" {tally_rows(p99)}; next hour: {tally_rows(predicted)}). Fitted, p50 and p90:"
            f" {tally_rows(hours['p50 and p90, fitted'])}."
        )
        same.append(hours)
        later.append(next_hours)
    title = "Measured / simulated percentiles of the {} in ms"
    return {
        "remarks": remarks,
        "tables": [
            Table(title.format("fitted hour"), pd.concat(same, ignore_index=True)),
            Table(title.format("next hour of the source"), pd.concat(later, ignore_index=True)),
        ],
    }


_NAMES = tuple(f"p{percent}" for percent in PERCENTILES)


def _judge_hour(row: Row, fitted: Row) -> Row:
    """Compare the measured percentiles of *row* with those simulated for the hour *fitted*."""
    simulated = [fitted[f"{name}_ms"] + ADDED_MS for name in _NAMES]
    triples = list(zip(_NAMES, row["ms"], simulated, strict=True))
    differences = {name: per_cent(ours, measured) for name, measured, ours in triples}
    values: Row = {name: f"{measured:.0f} / {ours:.0f}" for name, measured, ours in triples}
    values |= {f"{name} %": difference for name, difference in differences.items()}
    verdicts = {f"{name}, predicted": validation_verdict("latency", differences[name]) for name in _NAMES}
    if row is not fitted:
        hours = {"fitted to hour": fitted["hour"], "hour": row["hour"]}
        return {"losses": fitted["losses"], **hours, **values, **verdicts}
    own = {name: row[name] for name in ("losses", "hour", "loss", "mean run")}
    fit = validation_verdict("latency", differences["p50"], differences["p90"])
    return {**own, **values, "p50 and p90, fitted": fit, "p99, predicted": verdicts["p99, predicted"]}


LATENCY = Validation("latency", _latency_cases, _latency_findings)

# Round trip of a ping every second


def _ping_cases(_: float, seed: int) -> Iterable[Task]:
    trace = push_workload("clock", 1, seed, period_s=1.0, spread_s=0.0)
    scenario = Scenario(trace, pages=1, seed=seed, settings={"beacon.interval_ms": BEACON_MS})
    return [station_task(row["policy"], scenario, row) for row in measured_rows()["ping"]]


def _ping_findings(cases: list[Row]) -> dict[str, Any]:
    frame = pd.DataFrame(
        {name: row[name] for name in ("device", "policy", "statistic")}
        | compared("latency", row[f"{row['statistic']}_ms"] + row["base_ms"], row["ms"])
        | {"source": row["source"]}
        for row in cases
    )
    return {
        "remarks": [f"Predicted: {tally_rows(frame['verdict'])}."],
        "tables": [Table("Measured and simulated round trip in ms", frame)],
    }


PING = Validation("ping", _ping_cases, _ping_findings)
