"""Grid of ``psm_sim sweep``, built from the options or read from a file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim.commands.shared_options import (
    apply_recording_options,
    device_settings,
    find_preset,
    is_given,
    parse_max_page_s,
    parse_settings,
)
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError

if TYPE_CHECKING:
    from psm_sim.campaign.sweep.grid import Grid

_GRID_OPTIONS = frozenset(
    f"--{name}"
    for name in [
        "policy",
        "trace",
        "workload",
        "clients",
        "client",
        "topology",
        "profile",
        "battery",
        "preset",
        "loss",
        "max-page-s",
        "pages",
        "seed",
        "set",
        "vary",
    ]
)


_SCALARS = ("topology", "pages", "seed")


def build_grid(arguments: argparse.Namespace) -> Grid:
    """Return the grid of the options, or of the grid file."""
    from psm_sim.campaign.sweep.grid import Grid
    from psm_sim.campaign.sweep.grid_axis import GridAxis
    from psm_sim.campaign.sweep.grid_file import read_grid

    if arguments.grid is not None:
        return read_grid(_grid_path(arguments))
    return Grid(
        axes=tuple(map(GridAxis.parse, arguments.vary)),
        policies=tuple(arguments.policy or ()),
        trace=_trace(arguments),
        loss=arguments.loss,
        settings={
            **device_settings(arguments.profile, arguments.battery),
            **parse_max_page_s(arguments.max_page_s),
            **parse_settings(arguments.set),
        },
        preset=find_preset(arguments.preset),
        **{key: getattr(arguments, key) for key in _SCALARS if is_given(f"--{key}", arguments.argv)},
    )


def _trace(arguments: argparse.Namespace) -> str | None:
    """Return the trace with the parameters of other options, or None without options on the trace."""
    recording_options = {
        "workload": arguments.workload,
        "clients": arguments.clients,
        "client": arguments.client,
    }
    if not any(is_given(f"--{key}", arguments.argv) for key in ("trace", *recording_options)):
        return None
    return str(apply_recording_options(Spec.parse(arguments.trace, "trace"), recording_options))


def _grid_path(arguments: argparse.Namespace) -> Path:
    """Return the path of the grid file; reject options that the file must contain."""
    for argument in arguments.argv:
        if argument.partition("=")[0] in _GRID_OPTIONS:
            raise InputError(
                f"{argument} conflicts with the grid file {arguments.grid!r}; write it into the grid file."
            )
    return Path(arguments.grid)
