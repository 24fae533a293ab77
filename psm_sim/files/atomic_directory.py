"""Set of files: written into a draft folder, and put in place all at once.

Where the folder exists, its other files are linked into the draft, and the two folders are exchanged in one
step of the operating system. Where that is not possible (no such step, a mount point, the folder in which
the program stands) the files are renamed one by one, and renamed back if one of them fails.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from psm_sim.errors import InputError
from psm_sim.files.atomic_file import fsync_path
from psm_sim.files.rename_exchange import exchange_paths
from psm_sim.files.temporary_files import is_temporary, temporary_path

MAX_OTHERS = 10_000
"""Other files in a folder that are linked for an exchange; with more of them files are renamed one by one."""


@contextmanager
def replace_directory(folder: Path, *, own: bool = True) -> Iterator[Path]:
    """Give an empty folder to write in; when the block ends its files take the place of *folder*'s.

    Other files of *folder* stay. If the block fails, nothing is changed.

    Parameters
    ----------
    folder
        The target; made with its parents if need be.
    own
        Whether it is a folder for such files; else, as any folder of the user's, it is never exchanged.

    Raises
    ------
    InputError
        If it cannot be written, or the disk is full; *folder* is as it was.
    """
    target = folder.resolve()
    try:
        with _replaced(target, own) if target.exists() else _made(target) as inside:
            yield inside
    except OSError as error:
        what = f"{folder} cannot be written: {error.strerror or error}"
        raise InputError(f"{what}; what was there is unchanged, give another folder.") from error


@contextmanager
def _replaced(target: Path, own: bool) -> Iterator[Path]:
    """Give the draft of a folder that exists."""
    swappable = own and _swappable(target)
    with temporary_path(target.parent if swappable else target, is_folder=True) as made:
        yield made
        _flush(made)
        if not (swappable and _swap(made, target)):
            _one_by_one(made, target)


@contextmanager
def _made(target: Path) -> Iterator[Path]:
    """Give the draft of a folder that does not exist, the missing ones above it inside the draft."""
    top = target
    while not top.parent.exists():
        top = top.parent
    with temporary_path(top.parent, is_folder=True) as made:
        inside = made / target.relative_to(top.parent)
        inside.mkdir(parents=True)
        yield inside
        _flush(made)
        (made / top.name).rename(top)


def _swappable(target: Path) -> bool:
    # The folder in which the program stands would be gone for the shell that started it.
    here = target in (Path.cwd(), *Path.cwd().parents)
    return not here and not os.path.ismount(target) and os.access(target.parent, os.W_OK | os.X_OK)


def _swap(draft_dir: Path, target: Path) -> bool:
    """Exchange the two folders; False if that is not possible, and then nothing has changed."""
    try:
        _carry(target, draft_dir, [MAX_OTHERS])
        shutil.copystat(target, draft_dir)
        exchange_paths(draft_dir, target)
    except OSError:
        return False
    with suppress(OSError):
        _carry(draft_dir, target, [MAX_OTHERS])
    return True


def _carry(old: Path, new: Path, left: list[int]) -> None:
    """Link into *new* whatever *old* has and *new* has not; *left* holds the number of files allowed."""
    with os.scandir(old) as found:
        entries = list(found)
    for entry in entries:
        copy = new / entry.name
        if is_temporary(entry.name) or (os.path.lexists(copy) and not copy.is_dir()):
            continue
        left[0] -= 1
        if left[0] < 0:
            raise OSError("too many files")
        if entry.is_dir(follow_symlinks=False):
            copy.mkdir(exist_ok=True)
            shutil.copystat(entry.path, copy)
            _carry(Path(entry.path), copy, left)
        else:
            os.link(entry.path, copy, follow_symlinks=False)


def _one_by_one(draft_dir: Path, target: Path) -> None:
    """Rename each file, those in folders first; if one fails, or the user breaks off, undo the others."""
    files = sorted(_files(draft_dir), key=lambda path: (-len(path.parts), path.name))
    with temporary_path(draft_dir, is_folder=True) as kept:
        undo: list[tuple[Path, Path]] = []
        try:
            for number, path in enumerate(files):
                place = target / path.relative_to(draft_dir)
                place.parent.mkdir(parents=True, exist_ok=True)
                undo.append((place, kept / str(number)))
                if place.exists():
                    shutil.copy2(place, kept / str(number))
                path.replace(place)
        except BaseException:
            for place, before in reversed(undo):
                before.replace(place) if before.exists() else place.unlink(missing_ok=True)
            raise


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def _flush(draft_dir: Path) -> None:
    for path in _files(draft_dir):
        fsync_path(path)
