"""``psm_sim completion``: shell completion scripts."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Mapping, Sequence

HELP = """\
Print a script for shell completion of subcommands, options, files and the names
of policies, losses, traces, topologies, chips, presets and studies."""

EPILOG = """\
examples:
  psm_sim completion bash > ~/.local/share/bash-completion/completions/psm_sim
  psm_sim completion zsh > ~/.zfunc/_psm_sim     (with ~/.zfunc in fpath before compinit)
  psm_sim completion fish > ~/.config/fish/completions/psm_sim.fish
  psm_sim completion tcsh > ~/.psm_sim.tcsh      (and 'source' it in ~/.tcshrc)"""

SHELLS = ("bash", "zsh", "fish", "tcsh")

_KINDS = {
    "policy": "policies",
    "against": "policies",
    "loss": "losses",
    "other_loss": "losses",
    "trace": "traces",
    "file": "traces",
    "topology": "topologies",
    "preset": "presets",
}
"""Kind of the names that an option or argument accepts, by its destination."""

_WITHOUT_FILES = {"name", "studies"}
"""Kinds that do not accept files instead of names."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("shell", choices=SHELLS, help="shell to generate the completion script for")


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    import shtab

    parser = arguments.parser_of_all()
    names = _names_by_kind()
    for action in _actions(parser):
        metavar = str(action.metavar or action.dest).upper()
        action.metavar = metavar.replace(":", r"\:")  # zsh separates the parts of an argument by colons
        if action.dest == "grid":
            action.help = argparse.SUPPRESS  # shtab does not offer the actions of sweep beside its argument
        kind = "profiles" if metavar == "CHIP" else _KINDS.get(action.dest, action.dest)
        if kind in names:
            completion: Mapping[str, object] = _completion(kind, names[kind])
        elif "FILE" in metavar or "TOML" in metavar:
            completion = shtab.FILE
        elif metavar == "DIR":
            completion = shtab.DIRECTORY
        else:
            continue
        action.complete = completion  # type: ignore[attr-defined]
    print(shtab.complete(parser, shell=arguments.shell))  # noqa: T201
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield every option and argument of a parser and its subparsers."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for subparser in action.choices.values():
                yield from _actions(subparser)


def _names_by_kind() -> dict[str, list[str]]:
    """Return the names of each kind in :data:`_KINDS`, and of the arguments with names of several kinds."""
    from psm_sim.commands.list import KINDS
    from psm_sim.learning import LEARNERS

    names = {kind: sorted(entries.sources()) for kind, entries in KINDS.items()}
    return {
        **names,
        "name": sorted({name for entries in names.values() for name in entries}),
        "components": [*names["policies"], *names["losses"], *LEARNERS.names()],
        "learner": list(LEARNERS.names()),
    }


def _completion(kind: str, names: Sequence[str]) -> Mapping[str, object]:
    """Return the completion of names, and of files where they may be given instead, for shtab."""
    with_files = kind not in _WITHOUT_FILES
    # The bash script of shtab quotes the results as files if the name of the function has "_file".
    function = f"_psm_sim_{kind}" + ("_or_files" if with_files else "")
    words = shlex.join(names)
    lines = {
        "bash": [f"compgen -W {shlex.quote(words)} -- $1", "compgen -f -- $1"],
        "zsh": [f"compadd -- {words}", "_files"],
        "fish": [f"printf '%s\\n' {words}", "__fish_complete_path (commandline -ct)"],
    }
    bodies = {shell: "\n  ".join(each if with_files else each[:1]) for shell, each in lines.items()}
    preamble = {shell: f"{function}() {{\n  {body}\n}}" for shell, body in bodies.items()}
    preamble["fish"] = f"function {function}\n  {bodies['fish']}\nend"
    return {
        "bash": function,
        "zsh": function,
        "fish": f"({function})",
        "tcsh": f"`echo {words} *`" if with_files else f"({words})",  # the star stands for the files here
        "preamble": preamble,
    }
