"""Grid of ``psm_sim sweep``: what the options, or a file in their place, say that is to be run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim.commands.arguments import (
    apply_recording_options,
    device_settings,
    find_preset,
    is_given,
    parse_max_page_s,
    parse_settings,
)
from psm_sim.component_spec import Spec
from psm_sim.errors import InputError

if TYPE_CHECKING:
    from psm_sim.campaign.sweep.grid import Grid

_OF_RUNS = frozenset(
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


_ONES = ("topology", "pages", "seed")


def build_grid(arguments: argparse.Namespace) -> Grid:
    """Return the grid of the options, or of the file that is named instead of them."""
    from psm_sim.campaign.sweep.grid import Grid
    from psm_sim.campaign.sweep.grid_axis import GridAxis
    from psm_sim.campaign.sweep.grid_file import read_grid

    if arguments.grid is not None:
        return read_grid(_alone(arguments))
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
        **{key: getattr(arguments, key) for key in _ONES if is_given(f"--{key}", arguments.words)},
    )


def _trace(arguments: argparse.Namespace) -> str | None:
    """Return the trace with the parameters that other options give; None: nothing is said of it."""
    use = {"workload": arguments.workload, "clients": arguments.clients, "client": arguments.client}
    if not any(is_given(f"--{key}", arguments.words) for key in ("trace", *use)):
        return None
    return str(apply_recording_options(Spec.parse(arguments.trace, "trace"), use))


def _alone(arguments: argparse.Namespace) -> Path:
    """Return the path of the grid file, if nothing beside it says what is run."""
    for word in arguments.words:
        if word.partition("=")[0] in _OF_RUNS:
            raise InputError(f"{word} is given beside the grid {arguments.grid!r}; write it into the grid.")
    return Path(arguments.grid)
