"""``psm_sim completion``: shell completion scripts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

HELP = """\
Print a script for shell completion of subcommands, options and file names."""

EPILOG = """\
examples:
  psm_sim completion bash > ~/.local/share/bash-completion/completions/psm_sim
  psm_sim completion zsh > ~/.zfunc/_psm_sim     (with ~/.zfunc in fpath before compinit)
  psm_sim completion tcsh > ~/.psm_sim.tcsh      (and 'source' it in ~/.tcshrc)"""

SHELLS = ("bash", "zsh", "tcsh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("shell", choices=SHELLS, help="shell to generate the completion script for")


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    import shtab

    parser = arguments.parser_of_all()
    for action in _actions(parser):
        metavar = str(action.metavar or action.dest).upper()
        if "FILE" in metavar or "TOML" in metavar:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif metavar == "DIR":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    print(shtab.complete(parser, shell=arguments.shell))  # noqa: T201
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield every option and argument of a parser and its subparsers."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for subparser in action.choices.values():
                yield from _actions(subparser)
