"""Options shared by several subcommands, and functions that parse them."""

from __future__ import annotations

import argparse
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_PAGES, MAX_SEED, ascii_number

if TYPE_CHECKING:
    from psm_sim.simulation.preset import RunArguments

DEFAULT_PAGES = 100
"""Default number of pages."""


def integer_between(minimum: int, maximum: int) -> Callable[[str], int]:
    """Return an argparse type for integers from *minimum* to *maximum*."""
    bounds = f"from {minimum} to {maximum}"

    def parse(text: str) -> int:
        try:
            value = int(ascii_number(text))
        except ValueError:
            value = minimum - 1
        if not minimum <= value <= maximum:
            raise ArgumentTypeError(f"must be an integer {bounds}, got {text!r}")
        return value

    return parse


def positive_number(text: str) -> float:
    """Parse a finite number > 0; an argparse type."""
    try:
        value = float(ascii_number(text))
    except ValueError:
        value = 0.0
    if not 0 < value < inf:
        raise ArgumentTypeError(f"must be a number > 0, got {text!r}")
    return value


_SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}  # seconds per unit
_MAX_TIME_S = 1e6  # twelve days, longer than any useful limit


def positive_time(text: str) -> float:
    """Parse a time > 0 with its unit, such as ``300ms``, and return it in seconds; an argparse type."""
    number, unit = _split_unit(text)
    if number is not None and number > 0 and not unit:  # it could mean seconds or milliseconds
        raise ArgumentTypeError(f"requires a unit, got {text!r}; use {', '.join(_SECONDS)}")
    if number is None or unit not in _SECONDS or not 0 < number * _SECONDS[unit] <= _MAX_TIME_S:
        raise ArgumentTypeError(
            f"must be a time in {', '.join(_SECONDS)}, > 0 and at most {_MAX_TIME_S:g}s, got {text!r}"
        )
    return number * _SECONDS[unit]


def parse_settings(pairs: Sequence[str]) -> dict[str, str]:
    """Parse ``key=value`` pairs, e.g. of ``--set``.

    Raises
    ------
    InputError
        If a pair is not ``key=value``, or a key appears twice.
    """
    settings: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not key:
            raise InputError(
                f"--set: invalid setting {pair!r}; expected key=value, e.g. links.wired.latency_ms=80."
            )
        if key in settings:
            raise InputError(
                f"--set: duplicate key {key!r} ({settings[key]!r} and {value!r}); specify it once."
            )
        settings[key] = value
    return settings


def output_option(option: str, text: str, *suffixes: str) -> Path:
    """Return the value of *option* as a path after checking the suffix and that the file can be written.

    Raises
    ------
    InputError
        If the path does not end in one of *suffixes*, or is not writable.
    """
    from psm_sim.common.output_files import check_writable

    if not text.lower().endswith(suffixes or ""):
        raise InputError(f"{option} must be a file that ends in {' or '.join(suffixes)}, got {text!r}.")
    check_writable(Path(text), option)
    return Path(text)


def plot_option(text: str) -> Path:
    """Return the value of ``--plot`` as the path of a figure; see :func:`output_option` for the errors."""
    from psm_sim.reporting.figures.canvas import FORMATS

    return output_option("--plot", text, *(f".{name}" for name in FORMATS))


def is_given(option: str, argv: Sequence[str]) -> bool:
    """Return whether *option*, such as ``--pages``, is in the command-line arguments *argv*."""
    return any(argument.partition("=")[0] == option for argument in argv)


def execution_group(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Return the argument group "execution" of *parser*, created on first use."""
    groups = [group for group in parser._action_groups if group.title == "execution"]
    return groups[0] if groups else parser.add_argument_group("execution")


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command."""
    group = execution_group(parser)
    group.add_argument("--debug", action="store_true", help="show the traceback of an error")


def add_workers(parser: argparse.ArgumentParser, help: str) -> None:  # noqa: A002
    """Add ``--workers`` with the given *help*."""
    execution_group(parser).add_argument("--workers", type=integer_between(1, 1024), metavar="N", help=help)


def add_pages(parser: argparse._ActionsContainer, meaning: str) -> None:
    """Add ``--pages``. *meaning* is the help text, to which the default is appended."""
    parser.add_argument(
        "--pages",
        type=integer_between(1, MAX_PAGES),
        default=DEFAULT_PAGES,
        metavar="N",
        help=f"{meaning} (default: %(default)s)",
    )


def add_seed(parser: argparse._ActionsContainer, meaning: str) -> None:
    """Add ``--seed``. *meaning* is the help text, to which the default is appended."""
    parser.add_argument(
        "--seed",
        type=integer_between(0, MAX_SEED),
        default=1,
        metavar="N",
        help=f"{meaning} (default: %(default)s)",
    )


def add_replications(parser: argparse._ActionsContainer, meaning: str, default: int | None = None) -> None:
    """Add ``--replications``. *meaning* is the help text."""
    parser.add_argument(
        "--replications", type=integer_between(1, 10_000), default=default, metavar="N", help=meaning
    )


def add_force(parser: argparse._ActionsContainer) -> None:
    """Add ``--force``, which every command that writes files has."""
    parser.add_argument("--force", action="store_true", help="replace existing output files")


def add_format(parser: argparse._ActionsContainer, formats: Sequence[str] = ("table", "json", "csv")) -> None:
    """Add ``--format``."""
    parser.add_argument(
        "--format",
        choices=formats,
        default="table",
        help="format of standard output (default: %(default)s)",
    )


def add_policies_and_pages(parser: argparse.ArgumentParser) -> None:
    """Add the options of the policies and of the pages that they load."""
    group = parser.add_argument_group("what to simulate")
    group.add_argument(
        "--policy",
        action="append",
        metavar="NAME[:key=...]",
        help="sleep policy, or FILE.py:CLASS; repeatable; label=NAME names its row (default: lpsm)",
    )
    group.add_argument(
        "--loss",
        metavar="NAME|FORMULA",
        help="loss of every lpsm policy: name, formula or FILE.py:CLASS; for one policy, use lpsm:loss=...; "
        "a formula may use I (buffered bytes), T (ms slept), Ti (candidate ms) and gamma",
    )
    group.add_argument(
        "--preset",
        metavar="NAME|FILE.toml",
        help="parameters of trace, policies and topology under one name; other options override them",
    )
    group.add_argument(
        "--trace",
        metavar="NAME|FILE[:key=...]",
        help="bundled trace, HAR, pcap, UCB trace, page list .csv or profile .toml (default: ucb)",
    )
    add_pages(group, "number of pages")
    add_seed(group, "random seed")


def add_scenario(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the options of the network and the device, and return their group."""
    group = parser.add_argument_group("network and device")
    add_network(group)
    group.add_argument(
        "--battery",
        metavar="CAPACITY",
        help="battery capacity, e.g. 2000mAh; adds the battery life",
    )
    return group


def add_network(group: argparse._ActionsContainer) -> None:
    """Add ``--topology``, ``--profile`` and ``--set``."""
    group.add_argument(
        "--topology",
        metavar="NAME|FILE.toml",
        help="network topology (default: three-node, or a network of today with --profile)",
    )
    group.add_argument(
        "--profile",
        default="",
        metavar="CHIP",
        help="measured power profile of a chip",
    )
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="topology key, e.g. beacon.loss=0.1; repeatable",
    )


def add_access_point(group: argparse._ArgumentGroup, default_interval: str = "") -> None:
    """Add the options of the access point, of its channel, and of the measured current of the device."""
    group.add_argument(
        "--dtim", type=integer_between(1, 255), metavar="N", help="DTIM period of the access point"
    )
    group.add_argument(
        "--beacon-interval",
        metavar="TU|TIMEms",
        help=f"time between beacons, e.g. 100TU or 102.4ms{default_interval}",
    )
    group.add_argument(
        "--busy-air",
        metavar="SHARE",
        help="share of the time for which others occupy the channel, 0 to 1; beacons are then late",
    )
    group.add_argument(
        "--measured",
        action="append",
        default=[],
        metavar="dtim=N:CURRENT",
        help="mean current of your idle board at a DTIM period, e.g. 'dtim=3: 1.42mA'; once or twice",
    )
    group.add_argument(
        "--latency",
        type=positive_time,
        metavar="TIME",
        help="maximum 99th percentile of the latency of messages, or mean added page time, e.g. 300ms",
    )


def run_arguments(
    arguments: argparse.Namespace,
    trace: str | None,
    pages: int,
    defaults: Mapping[str, Any] | None = None,
    **fields: Any,
) -> RunArguments:
    """Return the arguments of a run with the options of :func:`add_scenario` and :func:`add_access_point`.

    *defaults* are topology settings that these options override, and *fields* are further fields of
    :class:`~psm_sim.simulation.preset.RunArguments`.
    """
    from psm_sim.simulation.preset import RunArguments

    options = access_point_settings(
        arguments.dtim, arguments.beacon_interval, parse_settings(arguments.set), arguments.busy_air
    )
    return RunArguments(
        trace,
        arguments.topology,
        pages,
        arguments.seed,
        {**(defaults or {}), **options},
        profile=measured_profile(arguments.profile, arguments.measured),
        battery=arguments.battery,
        where="--set",
        **fields,
    )


def measured_profile(profile: str, measured: Sequence[str]) -> str:
    """Return the spec of a chip profile with the values of ``--measured``.

    Raises
    ------
    InputError
        If a value is invalid, or there is no profile.
    """
    from psm_sim.common.component_spec import Spec

    if not measured:
        return profile
    if not profile:
        raise InputError("--measured requires --profile CHIP.")
    spec = Spec.parse(profile, "profile")
    for text in measured:
        key, _, current = (part.strip() for part in text.lower().partition(":"))
        name, _, period = (part.strip() for part in key.partition("="))
        number, unit = _split_unit(current)
        if name != "dtim" or not period.isdecimal() or number is None or unit not in ("ma", "ua"):
            raise InputError(
                f"--measured must be a DTIM period and a current, e.g. 'dtim=3: 1.42mA', got {text!r}."
            )
        if f"dtim_{period}" in spec.values:
            raise InputError(f"--measured: DTIM {period} is given twice; specify it once.")
        spec = spec.with_(f"dtim_{period}", f"{number / (1000 if unit == 'ua' else 1):g}")
    return str(spec)


def access_point_settings(
    dtim: int | None, beacon_interval: str | None, settings: Mapping[str, str], busy_air: str | None = None
) -> dict[str, Any]:
    """Return *settings*, from ``--set``, and the topology settings of the options that are not None.

    Raises
    ------
    InputError
        If the beacon interval is invalid, or *settings* contains the key of an option.
    """
    interval_ms = None if beacon_interval is None else beacon_interval_ms(beacon_interval)
    options: dict[str, tuple[str, Any]] = {
        "--dtim": ("beacon.dtim_period", dtim),
        "--beacon-interval": ("beacon.interval_ms", interval_ms),
        "--busy-air": ("beacon.busy_air", busy_air),
    }
    given = {option: (key, value) for option, (key, value) in options.items() if value is not None}
    for option, (key, _) in given.items():
        if key in settings:
            raise InputError(f"{option} conflicts with --set {key}={settings[key]}; remove one of them.")
    return {**dict(given.values()), **settings}


def beacon_interval_ms(text: str) -> float:
    """Return a beacon interval; a number without a unit is in time units, as in hostapd."""
    from psm_sim.common.parameters import parameters_of
    from psm_sim.network.topology_sections import BeaconParameters

    number, unit = _split_unit(text)
    unit = unit.lower() or "tu"
    if number is None or unit not in ("tu", "ms") or (unit == "tu" and not number.is_integer()):
        raise InputError(
            "--beacon-interval must be a number of time units such as 100 or 100TU, or a time such as"
            f" 102.4ms, got {text!r}."
        )
    interval_ms = number * 1024 / 1000 if unit == "tu" else number
    parameters_of(BeaconParameters)["interval_ms"].check(interval_ms, "--beacon-interval")
    return interval_ms


def _split_unit(text: str) -> tuple[float | None, str]:
    """Return number and unit of a quantity such as ``300ms``; the number is None if it is not valid."""
    digits = text.strip().rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
    try:
        number = float(ascii_number(digits))
    except ValueError:
        return None, ""
    return number, text.strip()[len(digits) :].strip()
