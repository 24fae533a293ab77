"""Command line: argument parsers, dispatch to one subcommand, and exit status."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from psm_sim import __version__
from psm_sim.commands.shared_options import add_common
from psm_sim.common.component_spec import path_exists
from psm_sim.common.errors import (
    CommandTerminated,
    InputError,
    PluginError,
    did_you_mean,
    source_location,
)

SUBCOMMANDS = {
    "advise": "rank the power-save settings of a device",
    "calibrate": "make a chip profile from a recording of its current",
    "list": "list policies, traces, topologies, chips, ...",
    "explore": "change settings in the browser, and see the effect",
    "losses": "compare losses of LPSM over gamma",
    "benchmark": "rank policies, also your own, on fixed tasks",
    "trace": "inspect, convert or fit a trace",
    "sweep": "run a grid of policies, parameters and seeds",
    "check": "check the contract of a policy, loss or learner",
}
"""Help line of every subcommand; each is a module of psm_sim.commands."""

SYNONYMS = {
    "--chip": "--profile",
    "--jobs": "--workers",
    "--runs": "--replications",
    "--seeds": "--replications",
    "-n": "--pages",
    "-o": "--output",
}
"""Option of psm_sim, by its name in other programs."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    Parameters
    ----------
    argv : sequence of str, optional
        Command-line arguments without the program name. By default, the arguments of the process.

    Returns
    -------
    int
        0 on success; 1 for the negative answer of some commands; 2 for an error that the user can fix, which
        is reported in one line on standard error; 130 after an interrupt; 143 after SIGTERM; 129 after
        SIGHUP.
    """
    return run_program(_dispatch, argv)


def run_program(dispatch: Callable[[list[str]], int], argv: Sequence[str] | None = None) -> int:
    """Call *dispatch* with the command-line arguments, report errors in one line, and return the exit status.

    *dispatch* runs the command of a list of arguments and returns its exit status. *argv* is as in
    :func:`main`.
    """
    if argv is not None:
        return _run_and_report(dispatch, list(argv))
    _reserve_stdout()
    args = sys.argv[1:]
    code = _named_code(args) if hasattr(os, "fork") else ""
    if not code:
        return _run_and_report(dispatch, args)
    from psm_sim.common.parallel import WorkerDiedError, call_in_session

    try:
        call_in_session(partial(_run_and_report, dispatch, args))
    except WorkerDiedError as error:
        return _report(InputError(f"{code} returned no result: {error}"))
    except CommandTerminated as error:
        return _report(error)


def _named_code(args: Sequence[str]) -> str:
    """Return each ``FILE.py:CLASS`` in the arguments and in their TOML and JSON files, joined by "or"."""
    texts = list(args)
    for word in args:
        path = Path(word.rpartition("=")[2])
        with suppress(OSError, ValueError):
            texts += [path.read_text("utf-8")] if path.suffix in {".toml", ".json"} else []
    paths = (name for text in texts for name in re.findall(r"[^\s'\"=(]+\.[pP][yY]:\w+", text))
    return " or ".join(dict.fromkeys(paths))


def _run_and_report(dispatch: Callable[[list[str]], int], args: list[str]) -> int:
    try:
        return _run_and_flush(dispatch, args)
    except SystemExit:
        raise
    except BrokenPipeError:
        _discard_output()
        return 0
    except BaseException as error:
        if isinstance(error, OSError):
            _discard_output()
        if "--debug" in args:
            traceback.print_exception(error)
        return _report(error)


def _report(error: BaseException) -> int:
    from psm_sim.commands.stderr_messages import report_error

    return report_error(error)


def _reserve_stdout() -> None:
    """Keep standard output for ``sys.stdout``.

    Other output to descriptor 1 or to ``sys.__stdout__``, e.g. of C libraries, goes to standard error.
    """
    with suppress(OSError, ValueError, AttributeError):  # standard output may be closed, or not a file
        old = sys.stdout
        copy, error = os.dup(old.fileno()), sys.stderr.fileno()
        os.dup2(error, old.fileno())
        # closefd=False, because an open file would raise a ResourceWarning at exit.
        sys.stdout = open(copy, "w", encoding=old.encoding, errors=old.errors, closefd=False)  # noqa: SIM115


def _run_and_flush(dispatch: Callable[[list[str]], int], argv: list[str]) -> int:
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names may have characters the terminal lacks
    status = dispatch(argv)
    sys.stdout.flush()
    return status


def _dispatch(argv: list[str]) -> int:
    name, rest = ("run", argv) if not argv or argv[0].startswith("-") else (argv[0], argv[1:])
    if name != "run" or argv[:1] == ["run"]:
        _check_subcommand(name)
    if name == "sweep" and rest[:1] == ["export"]:
        name, rest = "sweep export", rest[1:]
    elif name == "sweep":
        _check_grid_file(rest)
    command = importlib.import_module(f"psm_sim.commands.{name.replace(' ', '_')}")
    parser = _make_parser(name, command)
    command.add_arguments(parser)
    if name != "trace":  # the actions of trace have these options
        add_common(parser)
    arguments = parser.parse_args(rest)
    arguments.argv = argv
    return run_supervised(command, arguments)


def run_supervised(command: Any, arguments: argparse.Namespace) -> int:
    """Run the module *command* and return its status; handle signals, and warnings of plug-ins."""
    from psm_sim.commands.stderr_messages import print_plugin_warnings
    from psm_sim.common.signal_handling import raise_on_signals

    with raise_on_signals(), print_plugin_warnings():
        try:
            return int(command.run(arguments))
        except SystemExit as error:
            raise PluginError(
                f"sys.exit() was called during the run{source_location(error)}; remove the call."
            ) from error


def _check_subcommand(name: str) -> None:
    if name not in SUBCOMMANDS:
        raise InputError(
            f"Unknown subcommand {name!r}; expected one of {', '.join(SUBCOMMANDS)}, "
            f"or the options of a run.{did_you_mean(name, SUBCOMMANDS)}"
        )


def _check_grid_file(rest: list[str]) -> None:
    word = rest[0] if rest else "-"
    if not word.startswith("-") and Path(word).suffix != ".toml" and not path_exists(word):
        raise InputError(
            f"Unknown sweep action {word!r}; expected 'export', or a grid file FILE.toml."
            f"{did_you_mean(word, ['export'])}"
        )


def _make_parser(name: str, command: Any) -> argparse.ArgumentParser:
    is_run = name == "run"
    parser = make_parser(
        command,
        "psm_sim" if is_run else f"psm_sim {name}",
        "%(prog)s [options]" + ("\n       %(prog)s SUBCOMMAND [options]" if is_run else ""),
    )
    if is_run:
        parser.epilog = f"{_subcommand_help()}\n\n{parser.epilog}"
        parser.add_argument("--version", action="version", version=f"psm_sim {__version__}")
    return parser


def make_parser(command: Any, program: str, usage: str = "%(prog)s [options]") -> argparse.ArgumentParser:
    """Return a parser without options for the module *command*, with its HELP and EPILOG texts."""
    return _OneLineParser(
        prog=program,
        usage=usage,
        description=command.HELP,
        epilog=getattr(command, "EPILOG", None),
        formatter_class=partial(argparse.RawDescriptionHelpFormatter, max_help_position=32),
        allow_abbrev=False,
    )


def _subcommand_help() -> str:
    return "subcommands (each has its own --help):\n" + "\n".join(
        f"  {name:<28}  {summary}" for name, summary in SUBCOMMANDS.items()
    )


class _StoreOnce(argparse.Action):
    """Store the value of an option, and reject a second one.

    An empty text is rejected. It is the value of an unset shell variable.
    """

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: str | None = None
    ) -> None:
        assert isinstance(parser, _OneLineParser)  # noqa: S101 (only such a parser registers the action)
        if self.option_strings and self.dest in parser.seen:
            previous = getattr(namespace, self.dest)
            raise argparse.ArgumentError(self, f"must be given once, got {previous!r} and {values!r}")
        if values == "":
            raise argparse.ArgumentError(self, "requires a value, got ''")
        parser.seen.add(self.dest)
        setattr(namespace, self.dest, values)


class _OneLineParser(argparse.ArgumentParser):
    """Parser that raises its errors as one-line InputErrors, without the usage text.

    Attributes
    ----------
    seen : set of str
        Destinations of the options parsed so far.
    """

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.register("action", None, _StoreOnce)
        self._negative_number_matcher = re.compile(r"-\.?\d")  # -5mAh is a value, not an option
        self.seen: set[str] = set()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # also called for subparsers
        self.seen.clear()
        parsed, extra = super().parse_known_args(args, namespace)
        if extra:
            raise self._unknown(extra[0].partition("=")[0], args[: args.index(extra[0])])
        return parsed, []

    def _unknown(self, word: str, before: Sequence[str]) -> InputError:
        if not word.startswith("-"):
            actions = [
                self._option_string_actions[name] for name in before if name in self._option_string_actions
            ]
            repeat = ""
            if actions and isinstance(actions[-1], argparse._AppendAction):
                repeat = f"repeat {actions[-1].option_strings[0]} for several values, and "
            return InputError(
                f"Unexpected argument {word!r}; expected options, each with one value; {repeat}see"
                f" '{self.prog} --help'."
            )
        options = [option for option in self._option_string_actions if option.startswith("--")]
        synonym = SYNONYMS.get(word)
        meant = f" Did you mean {synonym!r}?" if synonym in options else did_you_mean(word, options)
        return InputError(f"Unknown option {word!r}; see '{self.prog} --help'.{meant}")

    def error(self, message: str) -> NoReturn:
        option, _, problem = message.removeprefix("argument ").partition(": ")
        if problem == "expected one argument":
            problem = f"requires a value, e.g. {option}=VALUE"
        choice = re.fullmatch(r"invalid choice: (.+) \(choose from (.+)\)", problem)
        if choice:
            names = re.findall(r"[\w-]+", choice[2])
            hint = did_you_mean(choice[1].strip("'"), names)
            raise InputError(f"{option} must be one of {', '.join(names)}, got {choice[1]}.{hint}")
        if option == "the following arguments are required":
            raise InputError(f"Missing required argument: {problem}; see '{self.prog} --help'.")
        separator = " " if problem.startswith(("must be ", "requires ")) else ": "
        raise InputError(f"{option}{separator}{problem}." if problem else f"{option}.")


def _discard_output() -> None:
    """Discard the rest of the output after a closed pipe or a write error."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
