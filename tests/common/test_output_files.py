"""Atomic output: complete files under their names."""

from __future__ import annotations

import json
import os
import resource
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from psm_sim.common.errors import InputError
from psm_sim.common.output_files import (
    atomic_write,
    atomic_write_text,
    check_outputs,
    check_writable,
    is_special,
    replace_files,
)

NAMES = ("a.json", "figures/c.png", "metadata.json", "z.csv")

needs_posix = pytest.mark.skipif(os.name != "posix", reason="requires POSIX files")

OBSERVED = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from test_output_files import contents, write_file, write_folder

folder, states, is_observing = Path(sys.argv[1]), [], True

def observe(event, arguments):
    global is_observing
    if is_observing and (event == "open" or event.startswith("os.")):
        is_observing = False
        states.append(contents(folder))
        is_observing = True

sys.addaudithook(observe)
{"file": write_file, "folder": write_folder}[sys.argv[2]](folder, "new")
is_observing = False
print(json.dumps(states))
"""
"""Script that writes files, and prints the files that a kill would leave at each system call."""


def contents(folder: Path) -> dict[str, str]:
    """Return the text of the files of a folder by name, without temporary files."""
    files = [path for path in folder.rglob("*") if path.is_file() and ".psm_sim-" not in str(path)]
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def write_file(folder: Path, text: str) -> None:
    """Write one file in two parts."""
    with atomic_write(folder / "a.json") as file:
        file.write(text[:1].encode())
        file.flush()
        file.write(text[1:].encode())


def write_folder(folder: Path, text: str) -> None:
    """Write the files of a folder, each with the same text."""
    with replace_files(folder) as temporary:
        for name in NAMES:
            (temporary / name).parent.mkdir(exist_ok=True)
            (temporary / name).write_text(text)


@contextmanager
def disk_of(size: int) -> Iterator[None]:
    """Simulate a full disk by limiting the size of files."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_killing_the_process_at_any_moment_leaves_complete_files(tmp_path: Path, kind: str) -> None:
    """New metadata imply new files. Files of the user are never changed."""
    write_folder(tmp_path, "old")
    (tmp_path / "figures" / "mine.txt").write_text("mine")
    command = [sys.executable, "-c", OBSERVED, str(tmp_path), kind, str(Path(__file__).parent)]
    states = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert len(states) > 3
    for state in states:
        assert state.pop("figures/mine.txt") == "mine"
        assert state.keys() == set(NAMES)
        assert set(state.values()) <= {"old", "new"}
        assert state["metadata.json"] == "old" or set(state.values()) == {"new"}
    new = ("a.json",) if kind == "file" else NAMES
    assert contents(tmp_path) == {
        **dict.fromkeys(NAMES, "old"),
        **dict.fromkeys(new, "new"),
        "figures/mine.txt": "mine",
    }
    assert not list(tmp_path.rglob(".psm_sim-*"))


@pytest.mark.parametrize("write", [write_file, write_folder])
@pytest.mark.parametrize(
    "error", [InputError("bad input"), KeyboardInterrupt(), OSError(28, "No space left")]
)
def test_an_error_or_an_interrupt_leaves_every_file_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[..., None], error: BaseException
) -> None:
    """Files and folders are unchanged, and no temporary file remains."""
    write_folder(tmp_path, "old")
    before = sorted(tmp_path.rglob("*"))

    def fail(_: int) -> None:
        raise error

    monkeypatch.setattr(os, "fsync", fail)
    for folder in (tmp_path, *([tmp_path / "not" / "there"] if write is write_folder else [])):
        with pytest.raises((KeyboardInterrupt, InputError)):
            write(folder, "new")
    assert sorted(tmp_path.rglob("*")) == before
    assert set(contents(tmp_path).values()) == {"old"}


@pytest.mark.parametrize("write", [write_file, write_folder])
def test_a_file_written_by_another_command_meanwhile_is_not_replaced(
    tmp_path: Path, write: Callable[..., None]
) -> None:
    """Only files of the command itself are replaced, or others with ``force``."""
    outputs = [("--output", tmp_path / name) for name in NAMES]
    check_outputs(outputs, (), force=False)
    (tmp_path / "a.json").write_text("other")
    for _ in range(2):
        with pytest.raises(InputError, match=r"Another command has written '.*a\.json' meanwhile; choose"):
            write(tmp_path, "new")
    assert contents(tmp_path) == {"a.json": "other"}
    (tmp_path / "a.json").unlink()
    write(tmp_path, "new")
    write(tmp_path, "newer")
    check_outputs(outputs, (), force=True)
    write(tmp_path, "newest")
    assert contents(tmp_path)["a.json"] == "newest"
    assert not list(tmp_path.rglob(".psm_sim-*"))


@needs_posix
@pytest.mark.parametrize("size", [0, 4096])
@pytest.mark.parametrize("write", [write_file, write_folder])
def test_a_full_disk_leaves_every_file_unchanged(
    tmp_path: Path, write: Callable[..., None], size: int
) -> None:
    write_folder(tmp_path, "old")
    with disk_of(size), pytest.raises(InputError, match=r"cannot be written: File too large; choose another"):
        write(tmp_path, "new" * 40_000)
    assert contents(tmp_path) == dict.fromkeys(NAMES, "old")
    assert not list(tmp_path.rglob(".psm_sim-*"))


@needs_posix
def test_links_are_followed_and_permissions_are_preserved(tmp_path: Path) -> None:
    """A private file stays private."""
    (tmp_path / "real").mkdir()
    real = tmp_path / "real" / "state.json"
    real.write_text("old")
    real.chmod(0o600)
    link = tmp_path / "state.json"
    link.symlink_to(real)
    atomic_write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o600


@needs_posix
def test_a_link_in_a_folder_of_results_is_replaced(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "results", tmp_path / "elsewhere.csv"
    folder.mkdir()
    elsewhere.write_text("precious")
    (folder / "z.csv").symlink_to(elsewhere)
    write_folder(folder, "new")
    assert not (folder / "z.csv").is_symlink()
    assert ((folder / "z.csv").read_text(), elsewhere.read_text()) == ("new", "precious")


@needs_posix
def test_a_device_or_fifo_is_written_directly(tmp_path: Path) -> None:
    """A run as root would otherwise replace /dev/null by a file."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    texts: list[str] = []
    reader = threading.Thread(target=lambda: texts.append(fifo.read_text()))
    reader.start()
    atomic_write_text(fifo, "through")
    reader.join()
    atomic_write_text(Path(os.devnull), "nothing")
    assert texts == ["through"]
    assert is_special(fifo)
    assert is_special(Path(os.devnull))


def test_an_unwritable_file_is_rejected_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cases are a folder, a file without a folder, and a write-protected file."""
    for path, problem in ((tmp_path, "is a folder"), (tmp_path / "no" / "x", "is not a writable folder")):
        with pytest.raises(InputError, match=problem):
            check_writable(path)
    (tmp_path / "x").write_text("")
    check_writable(tmp_path / "x")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).is_dir())
    with pytest.raises(InputError, match="it is write-protected"):
        check_writable(tmp_path / "x")
