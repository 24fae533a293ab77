"""Command line: the studies by name, or the replay of a trace."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from psm_sim.cli import make_parser, run_program, run_supervised
from psm_sim.commands.shared_options import add_common


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status, as :func:`psm_sim.cli.main` does."""
    return run_program(_dispatch, argv)


def _dispatch(argv: list[str]) -> int:
    is_replay = argv[:1] == ["replay"]
    command = importlib.import_module(f"psm_lab.commands.{'replay' if is_replay else 'reproduce'}")
    parser = make_parser(command, f"python -m psm_lab{' replay' * is_replay}")
    command.add_arguments(parser)
    add_common(parser)
    arguments = parser.parse_args(argv[1:] if is_replay else argv)
    arguments.argv = argv
    return run_supervised(command, arguments)
