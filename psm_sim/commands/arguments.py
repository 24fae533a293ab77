"""What the options of several subcommands have in common."""

from __future__ import annotations

import argparse
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from psm_sim.errors import InputError

if TYPE_CHECKING:
    from psm_sim.simulation.preset import Preset


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return an argument type that reads a whole number in a range."""
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least or (most is not None and value > most):
            raise ArgumentTypeError(f"the value is {text!r}; expected a whole number {bounds}")
        return value

    return read


def settings_of(pairs: Sequence[str]) -> dict[str, str]:
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


def preset_named(name: str | None) -> Preset:
    """Return the preset of that name; without a name, one that changes nothing."""
    from psm_sim.simulation.preset import Preset, load_preset

    return Preset() if name is None else load_preset(name)


def trace_under(preset: Preset, spec: str) -> str:
    """Return *spec* with the preset's parameters where it is of the preset's trace and gives none."""
    from psm_sim.workload.load import split_trace

    of_preset = preset.trace_parameters and split_trace(spec)[0] == preset.trace
    return preset.trace_spec(spec) if of_preset else spec


def recording_used(spec: str, use: Mapping[str, str | None]) -> str:
    """Return the trace with the parameters that ``--workload`` and ``--clients`` stand for; None: not given.

    Raises
    ------
    InputError
        If one is given though the trace is no recording, or says it too.
    """
    from psm_sim.workload.load import find_trace, is_page_list, is_profile, split_trace

    name, texts = split_trace(spec)
    for key, value in use.items():
        if value is None:
            continue
        path = find_trace(name)
        if is_profile(path) or is_page_list(path):
            raise InputError(
                f"--{key} is {value!r}, but trace {name!r} is no recording; expected one, such as a .tr.gz "
                f"or HAR file, or drop --{key}."
            )
        if key in texts:
            raise InputError(f"--{key} is {value!r}, but {spec!r} gives {key} too; drop one of the two.")
        spec += f"{',' if texts else ':'}{key}={f'({value})' if ',' in value else value}"
        texts[key] = value
    return spec


def with_loss(policies: Sequence[str], loss: str | None) -> list[str]:
    """Return the policies with ``loss`` set in every ``lpsm``.

    Raises
    ------
    InputError
        If the loss is unusable, no ``lpsm`` is there to take it, or one names a loss of its own.
    """
    if loss is None:
        return list(policies)
    from psm_sim.losses import make_loss
    from psm_sim.registry import is_file, split_spec

    if not is_file(loss):
        make_loss(loss)
    learners = [spec for spec in policies if split_spec(spec, "policy")[0] == "lpsm"]
    if not learners:
        raise InputError(
            f"--loss is {loss!r}, but no lpsm is given to use it; add --policy lpsm or drop --loss."
        )
    for spec in learners:
        if "loss" in split_spec(spec, "policy")[1]:
            raise InputError(f"--loss is {loss!r}, but {spec!r} names a loss too; drop one of the two.")
    return [_set_loss(spec, loss) if spec in learners else spec for spec in policies]


def _set_loss(spec: str, loss: str) -> str:
    from psm_sim.registry import split_commas, split_spec

    value = f"({loss})" if len(split_commas(loss)) > 1 else loss
    separator = "," if split_spec(spec, "policy")[1] else ":"
    return f"{spec.rstrip(':')}{separator}loss={value}"


def add_pages(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Declare ``--pages``."""
    parser.add_argument(
        "--pages",
        type=whole_number(1, 10_000_000),
        default=100,
        metavar="N",
        help=f"{meaning} (default: %(default)s)",
    )


def add_seed(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Declare ``--seed``."""
    parser.add_argument(
        "--seed",
        type=whole_number(0),
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
