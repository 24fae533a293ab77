"""Report of a calibration: text lines, the chip profile, and a comparison with a simulation."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from psm_sim.calibration.estimator import (
    ASSOCIATION,
    BEACONS,
    FRAMES,
    GROUP_FRAMES,
    METER_ERROR,
    MISSED,
    TIMERS,
    Calibration,
)
from psm_sim.common.formatting import pluralize
from psm_sim.network.chip_profiles import Mode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psm_sim.simulation.table import Row

_SEPARATOR = " · "
_SIMULATED_S = 3600.0  # the time awake before the first doze then has no weight
_LATENCY_MS = 0.5  # of a wired local network
_MODEM_SLEEP_MA = 5.0  # between the largest base in light sleep, 3.3 mA, and the smallest in modem sleep


def describe(fit: Calibration) -> list[str]:
    """Return the lines that say where the charge goes."""
    lines = [_SEPARATOR.join(_shares(fit)), _SEPARATOR.join(_levels(fit))]
    if _is_ambiguous(fit):
        lines.append(
            "Late beacons and group frames cannot be told apart in this recording: the smaller charge of a"
            " beacon assumes that all longer wake-ups have group frames, and the larger one that they are"
            " late. Record in a quiet room for a charge that late beacons do not bias."
        )
    if fit.awake_ma is not None and not fit.awake_is_resolved:
        lines.append(
            "The samples are longer than the pulses; record at 10 kHz to see the current of an awake radio."
        )
    return lines


def _shares(fit: Calibration) -> list[str]:
    shares = fit.shares
    parts = [f"base {_ma(fit.base_ma)} ({_percent(shares['base'])} of the mean)"]
    if fit.beacon_uc is not None:
        low_uc, high_uc = _range_uc(fit)
        charge = f"{fit.beacon_uc:.0f} ± {(high_uc - low_uc) / 2:.0f} uC"
        if _is_ambiguous(fit):
            charge = f"{low_uc:.0f} to {high_uc:.0f} uC, here {fit.beacon_uc:.0f} uC"
        charge += f" ({_percent(shares[BEACONS])})"
        missed = f"{_percent(fit.missed_share or 0.0)} missed"
        parts.append(f"beacons every {fit.beacon_interval_ms:.1f} ms, {charge}, {missed}")
    elif fit.awake_ma is not None and fit.awake_ma == fit.base_ma:
        parts.append("no beacons: the radio is always on")
    else:
        parts.append("no beacons: no power saving with an access point found")
    parts += [
        f"{state} {_percent(shares[state])}"
        for state in (MISSED, GROUP_FRAMES, FRAMES, ASSOCIATION, TIMERS)
        if fit.counts[state] and abs(shares[state]) >= 5e-4
    ]
    return [*parts, f"unexplained {_percent(shares['unexplained'])}"]


def _levels(fit: Calibration) -> list[str]:
    parts = [f"mean {_ma(fit.mean_ma)} in {_seconds(fit)}"]
    if fit.awake_ma is not None:
        parts.append(f"awake {'' if fit.awake_is_resolved else 'at least '}{_ma(fit.awake_ma)}")
    if fit.transmit_ma is not None:
        parts.append(f"transmitting {_ma(fit.transmit_ma)}")
    if fit.awake_after_frame_ms is not None:
        parts.append(f"{fit.awake_after_frame_ms:.0f} ms awake after a frame")
    if count := fit.counts[ASSOCIATION]:
        parts.append(
            f"{pluralize(count, 'association')} of {fit.associate_ms:.0f} ms, {fit.associate_mc:.0f} mC"
        )
    return parts


def _range_uc(fit: Calibration) -> tuple[float, float]:
    return fit.beacon_range_uc or (0.0, 0.0)


def _is_ambiguous(fit: Calibration) -> bool:
    """Return whether the beacon range is asymmetric, because late beacons may be group frames."""
    low_uc, high_uc = _range_uc(fit)
    mean_uc = fit.beacon_uc or 0.0
    return abs(low_uc + high_uc - 2 * mean_uc) > 0.02 * mean_uc


def _seconds(fit: Calibration) -> str:
    return f"{round(fit.length_s, 1):,g} s"


def _ma(value: float) -> str:
    return f"{value:.3g} mA" if value < 1000 else f"{value:.0f} mA"


def _percent(share: float) -> str:
    text = f"{100 * share:.0f} %" if abs(share) >= 0.0995 or abs(share) < 5e-4 else f"{100 * share:.1f} %"
    return text.replace("-0 %", "0 %")


def to_dict(fit: Calibration) -> dict[str, Any]:
    """Return the calibration as plain values, without those that are None."""
    values = asdict(fit)
    names = {
        group: {key.replace(" ", "_"): number for key, number in values.pop(group).items()}
        for group in ("counts", "shares")
    }
    return {key: value for key, value in values.items() if value is not None} | names


def mode_of(fit: Calibration, supply_v: float, *, supply_is_given: bool = True) -> Mode | None:
    """Return the estimated mode of the chip, or None if the recording has no beacons.

    ``extra_ma`` is the mean current of the chip's own timers.
    """
    if fit.beacon_uc is None or fit.awake_ma is None:
        return None
    at_least = "" if fit.awake_is_resolved else ", at least, since the samples are longer than the pulses"
    numbers: dict[str, tuple[float | None, str]] = {
        "supply_v": (
            supply_v,
            "measured: given with --supply" if supply_is_given else "assumed: the usual supply",
        ),
        "floor_ma": (fit.base_ma, "measured: usual current between the pulses"),
        "extra_ma": (fit.shares[TIMERS] * fit.mean_ma, "measured: pulses of the chip's own timers"),
        "awake_ma": (fit.awake_ma, f"measured: usual current within the pulses{at_least}"),
        "transmit_ma": (fit.transmit_ma, "measured: usual current of the peaks of frames"),
        "beacon_uc": (fit.beacon_uc, "measured: mean charge above the base, late beacons included"),
        "associate_ms": (fit.associate_ms, "measured: mean length of the associations"),
    }
    known = {key: number for key, (number, _) in numbers.items() if number is not None}
    origin = {key: text for key, (number, text) in numbers.items() if number is not None}
    charges = (fit.associate_mc,) * 3 if fit.associate_mc is not None else ()
    origin |= {"associate_mc": "measured: mean charge of the associations"} if charges else {}
    spread = {"beacon_uc": _range_uc(fit)}
    name = "light-sleep" if fit.base_ma < _MODEM_SLEEP_MA else "modem-sleep"
    return Mode(name, known, charges, origin, spread)


def profile_text(fit: Calibration, mode: Mode | None, name: str) -> str:
    """Return a chip profile as TOML, whose table ``[calibration]`` has all estimated values.

    Without a mode, the profile has no other table.
    """
    source = f"psm_sim calibrate {name}: {_seconds(fit)}, mean {_ma(fit.mean_ma)}"
    facts: dict[str, Any] = {"description": f"calibrated from {name}", "source": source}
    tables: dict[str, Mapping[str, Any]] = {}
    if mode:
        facts["interval"] = _interval(fit, mode)
        charges = {"associate_mc": list(mode.associate_mc)} if mode.associate_mc else {}
        tables = {
            "[[mode]]": {"name": mode.name, "associated": True, **mode.numbers, **charges},
            "[mode.origin]": mode.origin,
            "[mode.spread]": {key: list(values) for key, values in mode.spread.items()},
        }
    tables["[calibration]"] = to_dict(fit)
    lines = [f"{key} = {_toml(value)}" for key, value in facts.items()]
    for table, content in tables.items():
        lines += ["", table, *(f"{key} = {_toml(value)}" for key, value in content.items())]
    return "\n".join(lines) + "\n"


def _interval(fit: Calibration, mode: Mode) -> list[float]:
    """Return the lower and upper bound of an idle station's mean current, relative to its estimate."""
    interval_ms = fit.beacon_interval_ms or np.inf
    mean_ma = mode.base_ma + mode.numbers["beacon_uc"] / interval_ms
    low_uc, high_uc = mode.spread["beacon_uc"]
    low_ma = (1 - METER_ERROR) * mode.base_ma + low_uc / interval_ms
    high_ma = (1 + METER_ERROR) * mode.base_ma + high_uc / interval_ms
    return [round(low_ma / mean_ma, 3), round(high_ma / mean_ma, 3)]


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, float):
        return f"{value:.8g}"  # a beacon interval is known to 1 ppm
    # JSON strings, numbers and booleans are valid TOML. Undecodable bytes of a name are replaced.
    return json.dumps(value.encode("utf-8", "replace").decode() if isinstance(value, str) else value)


def compare_with_simulation(fit: Calibration, mode: Mode) -> str:
    """Simulate the station with its measured values, and return the simulated and recorded means in one line.

    The recorded frames are simulated as pings at their mean interval to a host in the local network. After
    each ping, the radio stays awake for the average time. During an association, no beacons are received.
    Group frames, associations and the additional charge of missed beacons are not simulated, so they are
    omitted from the recorded mean.
    """
    simulated_ma = _simulate(fit, mode)
    simulated_ma["beacons"] *= 1 - fit.counts[ASSOCIATION] * (fit.associate_ms or 0.0) / 1e3 / fit.length_s
    shares = fit.shares
    missed_ma = (fit.beacon_uc or 0.0) * fit.counts[MISSED] / 1e3 / fit.length_s
    recorded_ma = {
        "base": (shares["base"] + shares[TIMERS]) * fit.mean_ma,
        "beacons": shares[BEACONS] * fit.mean_ma + missed_ma,
        "frames": shares[FRAMES] * fit.mean_ma,
    }
    states = [
        f"{state} {_pair(simulated_ma[state], ma)}"
        for state, ma in recorded_ma.items()
        if ma > 0 or simulated_ma[state] > 0
    ]
    rest_ma = {state: shares[state] * fit.mean_ma for state in (MISSED, GROUP_FRAMES, ASSOCIATION)}
    rest_ma[MISSED] -= missed_ma
    rest = ", ".join(f"{ma:.3g} mA of {state}" for state, ma in rest_ma.items() if ma > 5e-3 * fit.mean_ma)
    total = _pair(sum(simulated_ma.values()), sum(recorded_ma.values()))
    return f"Simulated mean {total} recorded{f' without {rest}' if rest else ''}: {', '.join(states)}."


def _pair(simulated_ma: float, recorded_ma: float) -> str:
    return f"{simulated_ma:.3g} of {recorded_ma:.3g} mA"


def _simulate(fit: Calibration, mode: Mode) -> dict[str, float]:
    """Return the simulated mean current of each state in mA."""
    from psm_sim.simulation import simulate

    settings: dict[str, Any] = dict(mode.topology()[0])
    frames = round(fit.counts[FRAMES] * _SIMULATED_S / fit.length_s)
    settings |= {"beacon.interval_ms": fit.beacon_interval_ms, "links.wired.latency_ms": _LATENCY_MS}
    period_s = _SIMULATED_S / frames if frames else 1e6
    awake_uc = 1e3 * fit.shares[FRAMES] * fit.mean_ma * fit.length_s / max(1, fit.counts[FRAMES])
    timeout_ms = max(0.0, awake_uc / (mode.numbers["awake_ma"] - mode.base_ma) - 2 * _LATENCY_MS)
    row: Row = simulate(
        f"dynamic:timeout_ms={timeout_ms:.3f}" if frames else "psm",
        f"ping:stretch_s={_SIMULATED_S},echo.period_s={period_s},echo.on={str(frames > 0).lower()}",
        pages=1,
        settings=settings,
    ).row
    simulated_s = float(row["simulated_s"])
    joules = {
        state: float(row.get(f"energy_by_state_per_page_j.{state}", 0.0))
        for state in ("awake", "asleep", "beacons", "transmit")
    }
    awake_s = simulated_s - float(row["time_by_state_s.asleep"])
    asleep_w = settings["power.asleep_w"]
    scale = 1e3 / mode.numbers["supply_v"] / simulated_s
    return {
        "base": asleep_w * simulated_s * scale,
        "beacons": joules["beacons"] * scale,
        "frames": (joules["awake"] + joules["transmit"] - asleep_w * awake_s) * scale,
    }
