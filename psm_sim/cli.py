"""Command line: reads the words, calls one command, returns an exit status."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from psm_sim import __version__
from psm_sim.commands.arguments import add_common, parse_timeout
from psm_sim.errors import InputError, PluginError, did_you_mean, source_location

SUBCOMMANDS = {
    "policies": "list the power-save policies, with parameters",
    "losses": "list the losses that a learning policy can use",
    "topologies": "list the scenarios and every key that --set reaches; show one's file",
    "traces": "list the traces that have a name; show one's file",
    "profiles": "list measured chips: power, charge per beacon, and sources",
    "presets": "list the presets; show one's file",
    "trace": "look at, convert, fit or synthesize a trace",
    "sweep": "run a grid of policies, parameters and seeds; keep, resume, draw it",
    "replay": "let a learner poll network activity without a simulator: loss and regret",
    "check": "run the contract checks on a policy, a loss or a learner",
    "reproduce": "set published numbers beside ours",
    "validate": "set measured currents and latencies beside ours",
    "learners": "test the claims on learners that ask for labels",
    "bench": "measure how fast it is, beside loops in the same process",
    "completion": "print the script by which a shell completes these words",
}
"""Every subcommand, a module of psm_sim.commands, with its line in the help."""

ACTIONS = {"sweep": ("status", "best", "plot", "page", "export")}
"""Words that may follow a subcommand and have a module of their own, such as sweep_status."""


def main(words: Sequence[str] | None = None) -> int:
    """Run the command that *words* (default: the process's arguments) ask for; return the exit status.

    0 is success; 2 is a mistake that the user can mend, explained in one line on standard error; 130 is an
    interrupt; 143 and 129 are the signals SIGTERM and SIGHUP.
    """
    given = list(sys.argv[1:] if words is None else words)
    try:
        return _run_and_flush(given)
    except SystemExit:
        raise
    except BrokenPipeError:
        _hang_up()
        return 0
    except BaseException as error:
        if isinstance(error, OSError):
            _hang_up()
        if "--debug" in given:
            traceback.print_exception(error)
        from psm_sim.commands.messages import report_error

        return report_error(error)


def _run_and_flush(words: list[str]) -> int:
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name may have signs the terminal lacks
    status = _dispatch(words)
    sys.stdout.flush()
    return status


def _dispatch(words: list[str]) -> int:
    name, rest = ("run", words) if not words or words[0].startswith("-") else (words[0], words[1:])
    if name != "run" or words[:1] == ["run"]:
        _check_subcommand(name)
    if rest and rest[0] in ACTIONS.get(name, ()):
        name, rest = f"{name} {rest[0]}", rest[1:]
    command = _command(name)
    parser = _parser(name, command)
    _declare(parser, name, command)
    arguments = parser.parse_args(rest)
    arguments.words, arguments.parser_of_all = words, parser_of_all
    run: Callable[[argparse.Namespace], int] = command.run
    return _supervised(run, arguments)


def _command(name: str) -> Any:
    return importlib.import_module(f"psm_sim.commands.{name.replace(' ', '_')}")


def _declare(parser: argparse.ArgumentParser, name: str, command: Any) -> None:
    command.add_arguments(parser)
    if name != "trace":
        add_common(parser)


def parser_of_all() -> argparse.ArgumentParser:
    """Return one parser with the options of a run and, below it, every subcommand: for shell completion.

    A command itself is read by the parser of its own words alone, so that it imports nothing else.
    """
    whole = _parser("run", _command("run"))
    _declare(whole, "run", _command("run"))
    below = whole.add_subparsers(metavar="SUBCOMMAND")
    for name, words in SUBCOMMANDS.items():
        parser = below.add_parser(name, help=words)
        if name in ACTIONS:
            _declare_actions(parser, name)
        _declare(parser, name, _command(name))
    return whole


def _declare_actions(parser: argparse.ArgumentParser, name: str) -> None:
    """Declare the actions, before the command's own arguments: a word is completed as an action first."""
    actions = parser.add_subparsers(metavar="ACTION")
    for action in ACTIONS[name]:
        command = _command(f"{name} {action}")
        _declare(actions.add_parser(action, help=command.HELP.partition("\n")[0]), action, command)


def _supervised(run: Callable[[argparse.Namespace], int], arguments: argparse.Namespace) -> int:
    from psm_sim.commands.messages import print_plugin_warnings
    from psm_sim.signal_handling import heartbeat, raise_on_signals, time_limit

    limit_s = parse_timeout(arguments.timeout_s)
    with raise_on_signals(), print_plugin_warnings(), heartbeat(), time_limit(limit_s):
        try:
            return run(arguments)
        except SystemExit as error:
            raise PluginError(
                f"The run was ended by sys.exit(){source_location(error)}; leave that out."
            ) from error


def _check_subcommand(name: str) -> None:
    if name not in SUBCOMMANDS:
        raise InputError(
            f"There is no subcommand {name!r}; expected one of {', '.join(SUBCOMMANDS)}, "
            f"or the options of a run.{did_you_mean(name, SUBCOMMANDS)}"
        )


def _parser(name: str, command: Any) -> argparse.ArgumentParser:
    is_run = name == "run"
    parser = _OneLineParser(
        prog="psm_sim" if is_run else f"psm_sim {name}",
        usage="%(prog)s [options]" + ("\n       %(prog)s SUBCOMMAND [options]" if is_run else ""),
        description=command.HELP,
        epilog=getattr(command, "EPILOG", None),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if is_run:
        parser.epilog = f"{_subcommand_help()}\n\n{parser.epilog}"
        parser.add_argument("--version", action="version", version=f"psm_sim {__version__}")
    return parser


def _subcommand_help() -> str:
    return "subcommands (each has its own --help):\n" + "\n".join(
        f"  {name:<20}  {words}" for name, words in SUBCOMMANDS.items()
    )


class _OneLineParser(argparse.ArgumentParser):
    """Parser whose errors are one sentence, without the usage before it."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, extra = self.parse_known_args(args, namespace)
        if extra:
            options = [option for option in self._option_string_actions if option.startswith("--")]
            word = extra[0].partition("=")[0]
            kind = "option" if word.startswith("-") else "argument"
            raise InputError(
                f"There is no {kind} {word!r}; expected {', '.join(options)}.{did_you_mean(word, options)}"
            )
        return found

    def error(self, message: str) -> NoReturn:
        option, _, what = message.removeprefix("argument ").partition(": ")
        if what == "expected one argument":
            what = f"no value is given; expected one, as in {option}=VALUE"
        if option == "the following arguments are required":
            raise InputError(f"{what} is missing; '{self.prog} --help' says what is expected.")
        raise InputError(f"{option}: {what}." if what else f"{option}.")


def _hang_up() -> None:
    """Discard the rest of the output: nobody reads it, or it cannot be written."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
