"""Options that several subcommands share, and the functions that read them."""

from __future__ import annotations

import argparse
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim.errors import InputError
from psm_sim.limits import MAX_PAGES, MAX_SEED

if TYPE_CHECKING:
    from psm_sim.component_spec import Spec
    from psm_sim.simulation.preset import Preset


MAX_MAH = 1e9
"""Largest charge of a battery, in mAh."""

DEFAULT_PAGES = 100
"""The number of pages where none is given."""


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Return an argument type that reads a whole number in a range."""
    bounds = f"from {least} to {most}"

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise ArgumentTypeError(f"the value is {text!r}; expected a whole number {bounds}")
        return value

    return read


def parse_settings(pairs: Sequence[str]) -> dict[str, str]:
    """Read the ``key=value`` of every ``--set``."""
    settings: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not key:
            raise InputError(
                f"--set: {pair!r} is no setting; expected key=value, as links.wired.latency_ms=80."
            )
        if key in settings:
            raise InputError(
                f"--set: {key} is given twice, as {settings[key]!r} and {value!r}; give it once."
            )
        settings[key] = value
    return settings


def parse_battery(text: str | None) -> dict[str, float]:
    """Read ``--battery``, a charge in mAh or Ah, as the setting it stands for; None: it is not given."""
    if text is None:
        return {}
    word = text.strip().lower()
    number, scale = word.removesuffix("mah"), 1.0
    if number == word and word.endswith("ah"):
        number, scale = word.removesuffix("ah"), 1000.0
    try:
        charge_mah = scale * float(number)
    except ValueError:
        charge_mah = 0.0
    if not 0 < charge_mah <= MAX_MAH:
        raise InputError(f"--battery is {text!r}; expected a charge above 0, as 2000mAh or 2Ah.")
    return {"power.battery_mah": charge_mah}


def parse_max_page_s(text: str | None) -> dict[str, float]:
    """Read ``--max-page-s`` as the setting it stands for; None: it is not given."""
    from psm_sim.parameter_values import Parameter

    limit = Parameter("--max-page-s", 1.0, at_least=0.001, at_most=1e9)
    return {} if text is None else {"browser.max_page_s": float(limit.read(text, "option"))}


def device_settings(profile: str, battery: str | None) -> dict[str, Any]:
    """Return the topology keys for which ``--profile`` and ``--battery`` stand."""
    from psm_sim.network.chip_profiles import load_profile

    return {**(load_profile(profile).values if profile else {}), **parse_battery(battery)}


def find_preset(name: str | None) -> Preset:
    """Return the preset of that name; without a name, one that changes nothing."""
    from psm_sim.simulation.preset import Preset, load_preset

    return Preset() if name is None else load_preset(name)


def apply_recording_options(spec: Spec, use: Mapping[str, str | None]) -> Spec:
    """Return the trace with the parameters that options stand for, ``--clients`` for one; None: not given.

    Raises
    ------
    InputError
        If one is given though the trace is no recording, or says it too.
    """
    from psm_sim.workload.loading import find_trace, is_page_list, is_profile

    given = {key: value for key, value in use.items() if value is not None}
    path = find_trace(spec.name) if given else None
    for key, value in given.items():
        if path is not None and (is_profile(path) or is_page_list(path)):
            raise InputError(
                f"--{key} is {value!r}, but trace {spec.name!r} is no recording; expected one, such as a "
                f".tr.gz, HAR or pcap file, or drop --{key}."
            )
        if key in spec.values:
            raise InputError(f"--{key} is {value!r}, but {str(spec)!r} gives {key} too; drop one of the two.")
        spec = spec.with_(key, value)
    return spec


def path_option(option: str, text: str) -> Path:
    """Return the path of the file that an option names; a forgotten variable gives an empty text."""
    if not text:
        raise InputError(f"{option} is ''; expected the name of a file.")
    return Path(text)


def is_given(option: str, words: Sequence[str]) -> bool:
    """Say whether an option, such as ``--pages``, stands among the words of the command line."""
    return any(word.partition("=")[0] == option for word in words)


def add_common(parser: argparse.ArgumentParser) -> None:
    """Declare the options that every command has."""
    parser.add_argument(
        "--timeout-s", metavar="S", help="end the command after S seconds, whatever it does (default: never)"
    )
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")


def parse_timeout(text: str | None) -> float | None:
    """Return the seconds that ``--timeout-s`` gives as *text*, None without it."""
    from psm_sim.parameter_values import Parameter

    limit = Parameter("--timeout-s", 1.0, above=0, at_most=1e9)
    return None if text is None else float(limit.read(text, "option"))


def add_pages(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Declare ``--pages``."""
    parser.add_argument(
        "--pages",
        type=whole_number(1, MAX_PAGES),
        default=DEFAULT_PAGES,
        metavar="N",
        help=f"{meaning} (default: %(default)s)",
    )


def add_seed(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Declare ``--seed``."""
    parser.add_argument(
        "--seed",
        type=whole_number(0, MAX_SEED),
        default=1,
        metavar="N",
        help=f"{meaning} (default: %(default)s)",
    )


def add_format(parser: argparse.ArgumentParser) -> None:
    """Declare ``--format``."""
    parser.add_argument(
        "--format",
        choices=("table", "json", "csv"),
        default="table",
        help="of the results on standard output (default: %(default)s)",
    )
