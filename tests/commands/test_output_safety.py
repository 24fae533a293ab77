"""No command replaces a file that it reads, and none replaces an existing file without ``--force``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from psm_sim.cli import main

FOREIGN = b"not from psm_sim"

WRITERS = {
    "trace convert page-list.csv --to x.csv": ("page-list.csv", "x.csv"),
    "trace fit page-list.csv --to x.toml": ("page-list.csv", "x.toml"),
    "trace synthesize --records 9 --profile mine.toml --to x.tr": ("mine.toml", "x.tr"),
    "replay --trace page-list.csv --polls 50 --output out": ("page-list.csv", "out/replay.json"),
    "replay --loss mine.py:Mine --polls 50 --output out": ("mine.py", "out/weights.svg"),
}
"""Each command that writes a file, one file that it reads, and one that it writes."""

LINKS: dict[str, Callable[[Path, Path], None]] = {"symbolic": os.symlink, "hard": os.link}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with one input file of each kind."""
    monkeypatch.chdir(tmp_path)
    Path("page-list.csv").write_text("page,think_s,main_bytes,images\n1,5,1000,100;200\n2,2.5,4000,\n")
    assert main(["trace", "fit", "page-list.csv", "--to", "mine.toml"]) == 0
    Path("mine.py").write_text(
        "from psm_sim.losses import Loss\n\n\nclass Mine(Loss):\n    name = 'mine'\n"
        "    def __call__(self, poll, times_ms):\n        return 1 / times_ms\n"
    )
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files by name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refusal(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the sentence of a command that is refused, and check that it changes nothing."""
    before = contents(folder)
    capsys.readouterr()
    assert main(shlex.split(line)) == 2
    output, told = capsys.readouterr()
    assert (output, told.count("\n")) == ("", 1)
    assert contents(folder) == before
    return told


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("line", WRITERS)
def test_an_output_that_is_an_input_is_refused(
    line: str, link: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Under another name too, and with --force."""
    source, target = map(Path, WRITERS[line])
    target.parent.mkdir(exist_ok=True)
    LINKS[link](source.absolute(), target)
    for ending in ("", " --force"):
        told = refusal(line + ending, folder, capsys)
        assert f"the output {str(target)!r} is an input of the same command" in told


@pytest.mark.parametrize("line", WRITERS)
def test_an_existing_file_is_replaced_with_force_only(
    line: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether psm_sim wrote it or not."""
    target = Path(WRITERS[line][1])
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(FOREIGN)
    assert f"{str(target)!r} already exists; choose another name, or add --force" in refusal(
        line, folder, capsys
    )
    assert main(shlex.split(f"{line} --force")) == 0
    assert target.read_bytes() != FOREIGN
    assert "already exists" in refusal(line, folder, capsys)


def test_an_output_that_is_the_input_itself_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The name of the file is in the sentence."""
    line = "trace convert page-list.csv --to page-list.csv --force"
    assert "the output 'page-list.csv' is an input" in refusal(line, folder, capsys)
