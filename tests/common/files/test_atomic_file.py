"""Whole files: an earlier file survives whatever goes wrong, and nothing else is left."""

from __future__ import annotations

import os
import resource
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from psm_sim.common.errors import InputError
from psm_sim.common.files.atomic_file import atomic_write, atomic_write_text, check_writable, is_special
from psm_sim.common.files.temporary_files import is_temporary, remove_stale, temporary_path


def names(folder: Path) -> list[str]:
    """Return the names in a folder, hidden ones too."""
    return sorted(path.name for path in folder.iterdir())


needs_posix = pytest.mark.skipif(os.name != "posix", reason="there are no such files elsewhere")


def test_a_file_is_replaced_when_it_is_complete_and_not_before(tmp_path: Path) -> None:
    """Meanwhile the earlier content can be read."""
    path = tmp_path / "x.csv"
    path.write_text("before")
    with atomic_write(path) as file:
        file.write(b"after")
        assert path.read_text() == "before"
    assert path.read_text() == "after"
    assert names(tmp_path) == ["x.csv"]


@pytest.mark.parametrize("error", [InputError("bad input"), KeyboardInterrupt(), MemoryError()])
def test_an_error_leaves_what_was_there(tmp_path: Path, error: BaseException) -> None:
    """Bad input found halfway, an interrupt, no memory."""
    path = tmp_path / "x.csv"
    path.write_text("before")
    with pytest.raises(type(error)), atomic_write(path) as file:  # noqa: PT012 (the block is tested)
        file.write(b"half of it")
        raise error
    assert path.read_text() == "before"
    assert names(tmp_path) == ["x.csv"]


@needs_posix
def test_a_full_disk_leaves_what_was_there_and_is_told_in_a_sentence(tmp_path: Path) -> None:
    """At any number of bytes; the limit on the size of a file stands for the disk."""
    path = tmp_path / "x.csv"
    path.write_text("before")
    for size in (0, 1, 4096, 99_999):
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            with pytest.raises(InputError, match=r"x\.csv cannot be written: File too large; choose another"):
                atomic_write_text(path, "after" * 20_000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert path.read_text() == "before"
        assert names(tmp_path) == ["x.csv"]


@needs_posix
def test_a_link_is_followed_and_rights_are_kept(tmp_path: Path) -> None:
    """A file for the user alone is not opened to others by a run."""
    (tmp_path / "real").mkdir()
    real = tmp_path / "real" / "state.json"
    real.write_text("before")
    real.chmod(0o600)
    link = tmp_path / "state.json"
    link.symlink_to(real)
    atomic_write_text(link, "after")
    assert link.is_symlink()
    assert real.read_text() == "after"
    assert stat.S_IMODE(real.stat().st_mode) == 0o600


@needs_posix
def test_a_device_and_a_fifo_are_written_to_and_never_replaced(tmp_path: Path) -> None:
    """Else a run as root would put a file in the place of /dev/null."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(fifo.read_text()))
    reader.start()
    atomic_write_text(fifo, "through")
    reader.join()
    atomic_write_text(Path(os.devnull), "nothing")
    assert found == ["through"]
    assert is_special(fifo)
    assert is_special(Path(os.devnull))


def test_what_cannot_be_written_is_known_before_the_work(tmp_path: Path, monkeypatch) -> None:
    """A folder, a folder that does not exist, one without the right to write."""
    for path, what in ((tmp_path, "is a folder"), (tmp_path / "no" / "x.csv", "is not a writable folder")):
        with pytest.raises(InputError, match=what):
            check_writable(path)
    (tmp_path / "x").write_text("")
    check_writable(tmp_path / "x")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).is_dir())
    with pytest.raises(InputError, match="it is write-protected"):
        check_writable(tmp_path / "x")


@needs_posix
def test_what_a_killed_run_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    """Files and folders; those of a run that lives stay, and so do all other names."""
    code = (
        "import sys, os, signal; from pathlib import Path\n"
        "from psm_sim.common.files.temporary_files import temporary_path\n"
        "with temporary_path(Path(sys.argv[1])), temporary_path(Path(sys.argv[1]), is_folder=True) as made:\n"
        "    (made / 'x').write_text('half')\n"
        "    print('ready', flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    words = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        (tmp_path / ".psm_sim-draft-mine").write_text("not a draft")
        remove_stale(tmp_path)
        assert sum(map(is_temporary, names(tmp_path))) == 2
        process.kill()
    assert sum(map(is_temporary, names(tmp_path))) == 2
    with temporary_path(tmp_path) as own:
        assert sorted(names(tmp_path)) == sorted([own.name, ".psm_sim-draft-mine"])
        remove_stale(tmp_path)
        assert own.exists()
