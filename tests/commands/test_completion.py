"""Shell completion: how bash, zsh and fish complete a line."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from psm_sim.cli import SUBCOMMANDS, main

BASH = """
source ./bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _shtab_psm_sim; echo "${COMPREPLY[*]}"
"""
FISH = "source ./fish; complete -C $argv[1] | string split -f 1 \\t; true"
ZSH = "fpath=($PWD $fpath); autoload -Uz compinit; compinit -D -u; echo rea''dy\n"
TIMEOUT_S = 20.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the scripts, and one file whose name can be completed."""
    folder = tmp_path_factory.mktemp("completion")
    for shell, name in (("bash", "bash"), ("zsh", "_psm_sim"), ("fish", "fish")):
        with pytest.MonkeyPatch.context() as patch, (folder / name).open("w") as script:
            patch.setattr("sys.stdout", script)
            assert main(["completion", shell]) == 0
    (folder / "pages.csv").touch()
    return folder


def complete_in_bash(line: str, folder: Path) -> list[str]:
    """Return the candidates for the last word."""
    return _output(["bash", "-c", BASH, "bash", *line.split()], folder)


def complete_in_fish(line: str, folder: Path) -> list[str]:
    """Return the candidates that begin with the last word; fish also offers those that contain it."""
    words = _output(["fish", "--no-config", "-c", FISH, line], folder)
    return [word for word in words if word.startswith(line.rsplit(maxsplit=1)[-1])]


def _output(command: list[str], folder: Path) -> list[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.split()


def complete_in_zsh(line: str, folder: Path) -> list[str]:
    """Return the last word of the line after the Tab key, in a terminal."""
    terminal, shells_end = os.openpty()
    shell = subprocess.Popen(
        ["zsh", "-f", "-i"],
        cwd=folder,
        env={**os.environ, "TERM": "dumb"},
        stdin=shells_end,
        stdout=shells_end,
        stderr=shells_end,
        start_new_session=True,
    )
    try:
        os.write(terminal, ZSH.encode())
        _read_until(terminal, "ready")
        os.write(terminal, f"{line}\t".encode())
        return [line.rsplit(maxsplit=1)[-1] + _read_until(terminal, rf"{re.escape(line)}(\S*) ")[1]]
    finally:
        shell.kill()
        shell.wait()
        os.close(terminal)
        os.close(shells_end)


def _read_until(terminal: int, pattern: str) -> re.Match[str]:
    """Return the match of what the terminal shows."""
    shown, end_s = "", time.monotonic() + TIMEOUT_S
    while time.monotonic() < end_s:
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 4096).decode(errors="replace")
        match = re.search(pattern, shown)
        if match:
            return match
    pytest.fail(f"the shell shows no {pattern!r}: {shown!r}")


SHELLS: dict[str, Callable[[str, Path], list[str]]] = {
    "bash": complete_in_bash,
    "zsh": complete_in_zsh,
    "fish": complete_in_fish,
}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("psm_sim sw", "sweep"),
        ("psm_sim --repl", "--replications"),
        ("psm_sim --policy psm --policy anti", "anticipate"),
        ("psm_sim --trace pag", "pages.csv"),
        ("psm_sim --trace mq", "mqtt"),
        ("psm_sim --profile nrf7", "nrf7002"),
        ("psm_sim --topology caf", "cafe"),
        ("psm_sim --loss inverse-", "inverse-log"),
        ("psm_sim list policies anti", "anticipate"),
        ("psm_sim check learn-a", "learn-alpha"),
        ("psm_sim trace in", "info"),
        ("psm_sim sweep be", "best"),
        ("psm_sim sweep plot --wh", "--where"),
    ],
)
def test_a_shell_completes_words_names_and_files(folder: Path, shell: str, line: str, completed: str) -> None:
    if shutil.which(shell) is None or sys.platform == "win32":
        pytest.skip(f"there is no {shell} here")
    assert SHELLS[shell](line, folder) == [completed]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh"])
def test_every_subcommand_stands_in_the_script_of_each_shell(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert [name for name in SUBCOMMANDS if name not in script] == []
