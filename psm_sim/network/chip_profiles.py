"""Chip profiles, which set power draw, timing and TCP stack of a station in any topology.

A profile is a TOML file. It has either tables ``[[mode]]`` with currents from a data sheet, or a table
``[power]`` with watts and joules in light sleep.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.input_files import bundled_dir, bundled_names, read_toml
from psm_sim.common.input_limits import ascii_number
from psm_sim.common.registry import unknown_name_error
from psm_sim.network.chip_estimation import (
    ASSOCIATION_MC,
    BEACON_AIR_MS,
    BEACON_MS,
    DOZING_RATIOS,
    dozing_ratios_after,
    estimate_base_and_charge,
)
from psm_sim.network.topology import check_settings, topology_keys

_SECTIONS = ("power.", "station.")

MODES = ("light-sleep", "modem-sleep", "modem-sleep-dfs", "deep-sleep", "off")
"""Names of modes."""
_NOT_ASSOCIATED = ("deep-sleep", "off")
"""Modes in which the station is not associated."""

ORIGINS = ("measured", "derived", "data sheet", "assumed")
"""First words of an origin: published, computed from measurements, from a data sheet, or none of these."""

_NUMBERS = (
    "supply_v",
    "floor_ma",
    "extra_ma",
    "awake_ma",
    "transmit_ma",
    "beacon_uc",
    "wake_ms",
    "wake_uc",
    "associate_ms",
)
_TOPOLOGY = (
    ("power.awake_w", ("awake_ma",), 1e-3),
    ("power.asleep_w", ("floor_ma", "extra_ma"), 1e-3),
    ("power.beacon_j", ("beacon_uc",), 1e-6),
    ("power.transmit_w", ("transmit_ma",), 1e-3),
    ("power.wake_j", ("wake_uc",), 1e-6),
    ("station.wake_ms", ("wake_ms",), 0),
    ("power.supply_v", ("supply_v",), 0),
)
"""Topology key, names of the numbers whose sum is its value, and factor that converts them to A or C.

The factor is 0 for values that are neither currents nor charges.
"""


@dataclass(frozen=True)
class Mode:
    """Mode of a chip, in the units of its data sheet.

    Attributes
    ----------
    name : str
        One of :data:`MODES`.
    numbers : mapping of str to float
        Numbers by name. The current between beacons is ``floor_ma`` (asleep) plus ``extra_ma`` (timers and
        keep-alives). A beacon adds the charge ``beacon_uc``. Waking for a transmission takes ``wake_ms`` and
        ``wake_uc``. The other names are ``supply_v``, ``awake_ma``, ``transmit_ma`` and ``associate_ms``.
        Unknown numbers are missing.
    associate_mc : tuple of float
        Low, typical and high charge in mC of a start-up with an association; empty if unknown.
    origin : mapping of str to str
        Origin of each number: a text that starts with one of :data:`ORIGINS`.
    spread : mapping of str to tuple of float
        Low and high value of each number for which the sources differ.
    default_of : tuple of str
        Names of the firmwares whose default mode this is.
    """

    name: str
    numbers: Mapping[str, float]
    associate_mc: tuple[float, ...]
    origin: Mapping[str, str]
    spread: Mapping[str, tuple[float, float]]
    default_of: tuple[str, ...] = ()

    @property
    def associated(self) -> bool:
        """Whether the station stays associated and receives beacons."""
        return self.name not in _NOT_ASSOCIATED

    @property
    def base_ma(self) -> float:
        """Current between beacons, in mA."""
        return self.numbers["floor_ma"] + self.numbers.get("extra_ma", 0.0)

    def topology(self) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the topology keys and values of an associated mode, and the origin of each value."""
        values: dict[str, Any] = {}
        origin: dict[str, str] = {}
        for key, names, scale in _TOPOLOGY:
            known = [name for name in names if name in self.numbers]
            if known:
                volts = self.numbers["supply_v"] if scale else 1.0
                value = sum(self.numbers[name] for name in known) * volts * (scale or 1.0)
                values[key] = float(f"{value:.4g}")  # more digits than any source has
                origin[key] = "; ".join(self.origin[name] for name in known)
        return values, origin


@dataclass(frozen=True)
class ChipProfile:
    """Power and timing of one chip in one mode.

    Attributes
    ----------
    name, description, source : str
        Name of the profile, its description, and the publication or data sheet.
    values : mapping
        Topology keys and their values, with the TCP stack of the usual firmware if it is modelled.
    origin : mapping
        Origin of each value: measured, derived, from a data sheet, or assumed.
    driver : str
        Usual driver of the chip; empty if unknown.
    has_twt : bool
        Whether chip and driver support target wake time (TWT).
    modes : mapping of str to Mode
        Modes by name; empty if the profile has a table ``[power]``.
    mode : Mode or None
        Mode to which the values belong; None if the profile has a table ``[power]``.
    interval : (float, float)
        Interval of the ratio of measured to predicted mean current of a dozing station.
    known : str
        Text that names the measurements on which the interval is based.
    """

    name: str
    description: str
    source: str
    values: Mapping[str, Any]
    origin: Mapping[str, str]
    driver: str = ""
    has_twt: bool = False
    modes: Mapping[str, Mode] = field(default_factory=dict)
    mode: Mode | None = None
    interval: tuple[float, float] = DOZING_RATIOS[MODES[0]]
    known: str = "no board was measured"


def profile_names() -> list[str]:
    """Return the sorted names of the bundled profiles."""
    return bundled_names("topologies/profiles")


def load_profile(text: str) -> ChipProfile:
    """Load a bundled profile, or a TOML file of the same format.

    Parameters
    ----------
    text
        ``NAME`` or ``NAME:mode=MODE,dtim_N=CURRENT``. ``NAME`` is a profile, a board, or a path that ends in
        ``.toml``. The default mode is the first one in which the station is associated. ``dtim_N`` is the
        measured mean current of an idle station in mA at DTIM period N. One or two such currents replace base
        current and charge per beacon, see :func:`~psm_sim.network.chip_estimation.estimate_base_and_charge`.

    Raises
    ------
    InputError
        If the profile or the mode does not exist, a number is missing or invalid, or the station is not
        associated in the mode.
    """
    spec = Spec.parse(text, "profile")
    path = _find(spec.name)
    table = read_toml(path, "profile")
    description, source = (str(table.pop(key, "")) for key in ("description", "source"))
    table.pop("names", None)  # names of boards
    if table.pop("calibration", None) is not None and "mode" not in table:
        raise InputError(
            f"{path.name} is no profile, because its recording has no beacons; record an associated, idle"
            " station in power save, or add a table [[mode]] from a data sheet."
        )
    interval = table.pop("interval", None)
    driver, has_twt = _driver(_table(table.pop("driver", {}), path, "driver"), path)
    tcp = _table(table.pop("tcp", {}), path, "tcp")
    modes = _modes(table, path) if "mode" in table else {}
    mode = _choose(modes, spec.values.get("mode"), path.stem) if modes else None
    values, origin = mode.topology() if mode else _power(table, path)
    means_ma, ratios, known = _means(spec), DOZING_RATIOS[mode.name if mode else MODES[0]], ChipProfile.known
    if means_ma and mode and "mode" not in spec.values:
        _check_usual_mode(modes, mode, means_ma, spec.name)
    if means_ma:
        _estimate(values, origin, means_ma, mode.name if mode else MODES[0], path.stem)
    for key in tcp:
        if key not in ("stack", "origin"):
            raise InputError(f"{path.name}: {unknown_name_error('key of [tcp]', key, ['stack', 'origin'])}")
    if tcp:
        values["tcp.stack"], origin["tcp.stack"] = tcp.get("stack"), str(tcp.get("origin", _NO_ORIGIN))
    check_settings(values, path.name)
    if means_ma:
        count = "one mean of this board is" if len(means_ma) == 1 else "two means of this board are"
        ratios, known = dozing_ratios_after(means_ma), f"{count} known"
    elif interval is not None:
        ratios, known = _ascending(interval, (2,), f"{path.name}: interval"), "this board was recorded"
    facts = (path.stem, description, source, values, origin, driver, has_twt, modes, mode)
    return ChipProfile(*facts, ratios, known)


_SCATTERED = ("esp32", "esp32-s2")
"""Chips excluded from the prior, because their currents scatter by 7 % or belong to two sleep states."""


def base_and_charge_of_others(mode: str, without: Collection[str] = ()) -> list[tuple[float, float]]:
    """Return base current in mA and charge per beacon in uC of the bundled chips in a *mode*.

    The chips in *without* are left out.
    """
    modes = [
        load_profile(name).modes.get(mode)
        for name in profile_names()
        if name not in without and name not in _SCATTERED
    ]
    return [(mode.base_ma, mode.numbers["beacon_uc"]) for mode in modes if mode is not None]


def _means(spec: Spec) -> dict[int, float]:
    """Return the measured mean currents (``dtim_N``) in mA, by DTIM period."""
    means_ma: dict[int, float] = {}
    for key, text in spec.values.items():
        if key == "mode":
            continue
        if re.fullmatch("dtim_[0-9]{1,3}", key) is None:
            raise InputError(
                f"profile {spec.name}: {unknown_name_error('parameter', key, ['mode', 'dtim_3'])}"
            )
        period = int(key.removeprefix("dtim_"))
        try:
            means_ma[period] = float(ascii_number(text.lower().removesuffix("ma")))
        except ValueError:
            means_ma[period] = 0.0
        if not 0 < means_ma[period] < 1e6 or not 1 <= period <= 255:
            raise InputError(
                f"profile {spec.name}: {key} must be a mean current in mA > 0 at a DTIM period from 1 to 255,"
                f" got {text!r}."
            )
    if len(means_ma) > 2:
        raise InputError(f"profile {spec.name}: at most two measured means, got {len(means_ma)}.")
    return means_ma


def _check_usual_mode(
    modes: Mapping[str, Mode], chosen: Mode, means_ma: Mapping[int, float], name: str
) -> None:
    """Raise InputError if the measured mean currents suggest another mode than the *chosen* one."""

    def is_usual(mode: Mode) -> bool:
        low, high = DOZING_RATIOS[mode.name]
        predicted_ma = {n: mode.base_ma + mode.numbers["beacon_uc"] / (n * BEACON_MS) for n in means_ma}
        return all(low <= means_ma[n] / predicted_ma[n] <= high for n in means_ma)

    usual = [mode.name for mode in modes.values() if mode.associated and is_usual(mode)]
    if usual and chosen.name not in usual:
        means = " and ".join(f"{mean:g} mA at DTIM {period}" for period, mean in means_ma.items())
        raise InputError(
            f"profile {name}: {means} is usual in {usual[0]}, not in {chosen.name}; specify the mode, as in"
            f" {name}:mode={usual[0]}."
        )


def _estimate(
    values: dict[str, Any], origin: dict[str, str], means_ma: Mapping[int, float], mode: str, name: str
) -> None:
    """Replace base and charge in *values* by estimates from measured means."""
    if "power.supply_v" not in values:
        raise InputError(f"profile {name}: measured currents require power.supply_v; add the supply voltage.")
    others = base_and_charge_of_others(mode, (name,))
    base_ma, charge_uc = estimate_base_and_charge(means_ma, others)
    values["power.asleep_w"] = float(f"{base_ma * values['power.supply_v'] / 1e3:.4g}")
    values["power.beacon_j"] = float(f"{charge_uc * values['power.supply_v'] / 1e6:.4g}")
    means = " and ".join(f"{mean:g} mA at DTIM {period}" for period, mean in means_ma.items())
    prior = f"; prior of {len(others)} other chips" if len(means_ma) == 1 else ""
    origin["power.asleep_w"] = origin["power.beacon_j"] = f"derived: {means}{prior}"


def _power(table: dict[str, Any], path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Return values and origins of a profile with a table ``[power]``."""
    origins = _table(table.pop("origin", {}), path, "origin")
    sections = {section: _table(values, path, section) for section, values in table.items()}
    values = {
        f"{section}.{key}": value for section, table in sections.items() for key, value in table.items()
    }
    valid = [key for key in topology_keys() if key.startswith(_SECTIONS)]
    for key in values:
        if key not in valid:
            raise InputError(f"{path.name}: {unknown_name_error('profile key', key, valid)}")
    if "power.beacon_j" not in values:  # on a modern chip, beacons take most of the energy of psm
        raise InputError(
            f"{path.name}: power.beacon_j is missing; add the energy to receive a beacon, in joules."
        )
    return values, {
        key: str(origins[key.partition(".")[2]]) for key in values if key.partition(".")[2] in origins
    }


def _choose(modes: Mapping[str, Mode], name: str | None, profile: str) -> Mode:
    """Return the mode *name*, by default the first one with an association."""
    if name is None:
        mode = next((mode for mode in modes.values() if mode.associated), None)
        if mode is None:
            raise InputError(
                f"profile {profile}: a mode with association is required, got {', '.join(modes)}."
            )
        return mode
    if name not in modes:
        raise InputError(f"profile {profile}: {unknown_name_error('mode', name, modes)}")
    if not modes[name].associated:
        raise InputError(
            f"profile {profile}: the station is not associated in mode {name}; use"
            " psm_sim advise --report-every TIME to compare this mode."
        )
    return modes[name]


def _modes(table: Mapping[str, Any], path: Path) -> dict[str, Mode]:
    """Return the modes by name. The numbers of the table ``[chip]`` apply to every mode."""
    for key in table:
        if key not in ("mode", "chip"):
            raise InputError(f"{path.name}: {unknown_name_error('key', key, ['mode', 'chip'])}")
    tables = table["mode"]
    if not isinstance(tables, list):
        raise InputError(f"{path.name}: mode must be declared as [[mode]] tables, got {tables!r}.")
    common = _table(table.get("chip", {}), path, "chip")
    modes = [_mode(common, _table(entry, path, "mode"), path) for entry in tables]
    names = [mode.name for mode in modes]
    if not names or len(set(names)) < len(names):
        raise InputError(f"{path.name}: expected modes of different names, got {', '.join(names) or 'none'}.")
    return {mode.name: mode for mode in modes}


def _mode(common: Mapping[str, Any], table: Mapping[str, Any], path: Path) -> Mode:
    name, associated, firmwares = _checked_mode(table, path)
    where = f"{path.name}: mode {name}"
    others = ("name", "associated", "default_of", "origin", "spread", "associate_mc")
    origins, spreads = (
        {**_table(common.get(key, {}), path, key), **_table(table.get(key, {}), path, key)}
        for key in ("origin", "spread")
    )
    charges = _ascending({**common, **table}.get("associate_mc", []), (0, 3), f"{where}: associate_mc")
    if name == "deep-sleep" and not charges:  # no data sheet states this charge
        charges = ASSOCIATION_MC
        origins["associate_mc"] = "assumed: measured for ESP32 and ESP32-C5, not for this chip"
    numbers: dict[str, float] = {}
    for source in (common, table):  # each on its own, because a mode can use another unit than [chip]
        numbers |= _numbers({key: value for key, value in source.items() if key not in others}, where)
    for key in ("supply_v", "floor_ma", *(("awake_ma",) if associated else ())):
        if key not in numbers:
            raise InputError(f"{where}: {key} is missing; no other chip's number is used instead.")
    if associated and numbers["floor_ma"] + numbers.get("extra_ma", 0) > numbers["awake_ma"]:
        raise InputError(
            f"{where}: floor_ma and extra_ma must not exceed awake_ma = {numbers['awake_ma']:g}, got"
            f" {numbers['floor_ma'] + numbers.get('extra_ma', 0):g}; a current in uA is floor_ua."
        )
    origins = {key.replace("_ua", "_ma"): text for key, text in origins.items()}
    if associated and "beacon_uc" not in numbers:  # no data sheet states this charge
        numbers["beacon_uc"] = BEACON_AIR_MS * (numbers["awake_ma"] - numbers["floor_ma"])
        origins["beacon_uc"] = (
            f"assumed: awake for {BEACON_AIR_MS:g} ms, the air time of a beacon at 1 Mbit/s"
        )
    for key in (*numbers, *(["associate_mc"] if charges else [])):
        if not str(origins.setdefault(key, _NO_ORIGIN)).startswith(ORIGINS):
            expected = ", ".join(ORIGINS)
            raise InputError(
                f"{where}: origin of {key} must start with one of {expected}, got {origins[key]!r}."
            )
    spread = {key: _ascending(value, (2,), f"{where}: spread of {key}") for key, value in spreads.items()}
    return Mode(name, numbers, charges, origins, spread, tuple(firmwares))


def _checked_mode(table: Mapping[str, Any], path: Path) -> tuple[str, bool, list[str]]:
    """Return the name of a mode, whether the station is associated in it, and its firmwares."""
    name, firmwares = table.get("name"), table.get("default_of", [])
    associated = name not in _NOT_ASSOCIATED
    if name not in MODES:
        raise InputError(f"{path.name}: {unknown_name_error('mode', str(name), MODES)}")
    where = f"{path.name}: mode {name}"
    if (stated := table.get("associated", associated)) is not associated:
        expected = str(associated).lower()
        raise InputError(f"{where}: associated must be {expected} in this mode, got {stated!r}.")
    if not isinstance(firmwares, list) or not all(isinstance(firmware, str) for firmware in firmwares):
        raise InputError(f"{where}: default_of must be a list of names, got {firmwares!r}.")
    return name, associated, firmwares


_NO_ORIGIN = "assumed: the file states no origin"


def _numbers(values: Mapping[str, Any], where: str) -> dict[str, float]:
    """Return the numbers of a mode, with uA converted to mA."""
    numbers: dict[str, float] = {}
    for key, value in values.items():
        known = f"{key[:-3]}_ma" if key.endswith("_ua") else key
        if known not in _NUMBERS:
            valid = [*_NUMBERS, *(name.replace("_ma", "_ua") for name in _NUMBERS if "_ma" in name)]
            raise InputError(f"{where}: {unknown_name_error('number', key, [*valid, 'associate_mc'])}")
        if not _is_number(value):
            raise InputError(f"{where}: {key} must be a number >= 0, got {value!r}.")
        if known in numbers:
            raise InputError(f"{where}: {known} conflicts with {known[:-3]}_ua; remove one.")
        numbers[known] = value / 1000 if known != key else float(value)
    return numbers


def _ascending(value: Any, counts: tuple[int, ...], where: str) -> Any:
    """Check that *value* is an ascending list with a length in *counts*, and return it as a tuple."""
    is_list = isinstance(value, list) and all(map(_is_number, value))
    if not is_list or len(value) not in counts or value != sorted(value):
        raise InputError(f"{where} must be {counts[-1]} numbers >= 0 in ascending order, got {value!r}.")
    return tuple(map(float, value))


def _is_number(value: Any) -> bool:
    """Return whether *value* is a finite number that is not negative."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e9


def _driver(table: Mapping[str, Any], path: Path) -> tuple[str, bool]:
    """Return the name of the driver, and whether it supports TWT, from the table ``[driver]``."""
    expected: dict[str, Any] = {"name": "", "twt": False, "source": ""}
    for key, value in table.items():
        if key not in expected:
            raise InputError(f"{path.name}: {unknown_name_error('key of [driver]', key, expected)}")
        if type(value) is not type(expected[key]):
            kind = "true or false" if key == "twt" else "a string"
            raise InputError(f"{path.name}: driver.{key} must be {kind}, got {value!r}.")
    values = {**expected, **table}
    return values["name"], values["twt"]


_MAX_MAH = 1e9  # more than any battery has; a larger number must be in a wrong unit


def parse_battery(text: str) -> float:
    """Return the capacity of a battery in mAh, from a *text* in mAh or Ah.

    Raises
    ------
    InputError
        If *text* is not a capacity above 0.
    """
    capacity = str(text).strip().lower()
    number, scale = capacity.removesuffix("mah"), 1.0
    if number == capacity and capacity.endswith("ah"):
        number, scale = capacity.removesuffix("ah"), 1000.0
    try:
        charge_mah = scale * float(ascii_number(number))
    except ValueError:
        charge_mah = 0.0
    if not 0 < charge_mah <= _MAX_MAH:
        raise InputError(
            f"battery must be a capacity > 0 and at most {_MAX_MAH:g} mAh, e.g. 2000mAh or 2Ah, got {text!r}."
        )
    return charge_mah


def _find(name: str) -> Path:
    """Return the file of a profile, by its name, the name of a board, or its path."""
    if name.endswith(".toml"):
        if not Path(name).is_file():
            raise InputError(
                f"Profile file not found: {name!r}; expected a TOML file or the name of a bundled profile."
            )
        return Path(name)
    folder = bundled_dir("topologies/profiles")
    if name in profile_names():
        return folder / f"{name}.toml"
    files = {known: read_toml(folder / f"{known}.toml", "profile") for known in profile_names()}
    boards = {board: known for known, table in files.items() for board in (known, *table.get("names", ()))}
    letters = _letters(name)
    for board, known in boards.items():
        if letters == _letters(board):
            return folder / f"{known}.toml"
    for known, table in files.items():
        if letters in _letters(table["description"]):
            raise InputError(f"Unknown profile {name!r}; use --profile {known}.")
    for known in sorted(files, key=len, reverse=True):
        if letters.endswith(_letters(known)):
            raise InputError(f"Unknown profile {name!r}; use --profile {known}.")
    raise unknown_name_error("profile", name, [*boards, "FILE.toml"])


def _letters(text: str) -> str:
    """Return the letters and digits of *text*, in lower case."""
    return re.sub(r"\W|_", "", text.lower())


def _table(value: Any, path: Path, section: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{path.name}: {section} must be a table such as [power], got {value!r}.")
    return value
