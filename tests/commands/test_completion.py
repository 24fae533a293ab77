"""Shell completion: what bash offers for words half written."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from psm_sim.cli import SUBCOMMANDS, main

BASH = shutil.which("bash")
COMPLETE = """
source ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _shtab_psm_sim; echo "${COMPREPLY[*]}"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with bash's script, and one file whose name could be completed."""
    folder = tmp_path_factory.mktemp("completion")
    with pytest.MonkeyPatch.context() as patch, (folder / "script").open("w") as script:
        patch.setattr("sys.stdout", script)
        assert main(["completion", "bash"]) == 0
    (folder / "pages.csv").touch()
    return folder


@pytest.mark.skipif(BASH is None, reason="there is no bash here")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("psm_sim sw", "sweep"),
        ("psm_sim --repl", "--replications"),
        ("psm_sim --policy lpsm --trace pa", "pages.csv"),
        ("psm_sim trace in", "info"),
        ("psm_sim trace info pa", "pages.csv"),
        ("psm_sim sweep be", "best"),
        ("psm_sim sweep plot --wh", "--where"),
        ("psm_sim sweep --va", "--vary"),
        ("psm_sim completion z", "zsh"),
    ],
)
def test_bash_completes_subcommands_options_and_files(folder: Path, words: str, offered: str) -> None:
    """Of a run, of a subcommand and of its actions."""
    done = subprocess.run(
        [str(BASH), "-c", COMPLETE, "bash", *words.split()],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [offered]


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_every_subcommand_stands_in_the_script_of_each_shell(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """So does what is new, without a line written for it."""
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert [name for name in SUBCOMMANDS if name not in script] == []


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """With those that there are."""
    assert main(["completion", "fish"]) == 2
    assert "bash" in capsys.readouterr().err
