"""``psm_sim completion``: the script by which a shell completes subcommands, options and file names."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

HELP = """\
Print the script by which a shell completes psm_sim's subcommands, options and files."""

EPILOG = """\
examples:
  psm_sim completion bash > ~/.local/share/bash-completion/completions/psm_sim
  psm_sim completion zsh > ~/.zfunc/_psm_sim     (with ~/.zfunc in fpath before compinit)
  psm_sim completion tcsh > ~/.psm_sim.tcsh      (and 'source' it in ~/.tcshrc)"""

SHELLS = ("bash", "zsh", "tcsh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the shell."""
    parser.add_argument("shell", choices=SHELLS, help="the shell that is to complete")


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    import shtab

    whole = arguments.parser_of_all()
    for action in _actions(whole):
        metavar = str(action.metavar or action.dest).upper()
        if "FILE" in metavar or "TOML" in metavar:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif metavar == "DIR":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    print(shtab.complete(whole, shell=arguments.shell))  # noqa: T201
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield every option and argument of a parser, and of those below it."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _actions(below)
