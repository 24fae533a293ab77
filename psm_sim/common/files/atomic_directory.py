"""Atomic replacement of the files of a directory.

If the directory exists, its other files are hard-linked into the temporary directory, and the operating
system exchanges the two directories in one step. If that is not possible (unsupported system, mount point,
current directory), the files are renamed one by one, and renamed back if one of them fails.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from psm_sim.common.errors import InputError
from psm_sim.common.files.atomic_file import fsync_path
from psm_sim.common.files.rename_exchange import exchange_paths
from psm_sim.common.files.temporary_files import is_temporary, temporary_path

MAX_OTHERS = 10_000
"""Maximum number of other files to hard-link; above it, files are renamed one by one."""


@contextmanager
def replace_directory(folder: Path, *, own: bool = True) -> Iterator[Path]:
    """Yield an empty directory whose files replace those of *folder* when the block ends.

    Other files of *folder* stay. If the block fails, nothing changes.

    Parameters
    ----------
    folder : Path
        Target directory, created with its parents if necessary.
    own : bool
        Whether the directory belongs to psm_sim. Other directories are never exchanged.

    Raises
    ------
    InputError
        If the directory cannot be written, or the disk is full. *folder* is then unchanged.
    """
    target = folder.resolve()
    try:
        with _replace_existing(target, own) if target.exists() else _create_new(target) as inside:
            yield inside
    except OSError as error:
        problem = f"{folder} cannot be written: {error.strerror or error}"
        raise InputError(f"{problem}; its files are unchanged, choose another folder.") from error


@contextmanager
def _replace_existing(target: Path, own: bool) -> Iterator[Path]:
    """Yield the temporary directory of an existing directory."""
    can_swap = own and _can_swap(target)
    with temporary_path(target.parent if can_swap else target, is_folder=True) as draft_dir:
        yield draft_dir
        _flush(draft_dir)
        if not (can_swap and _swap(draft_dir, target)):
            _replace_one_by_one(draft_dir, target)


@contextmanager
def _create_new(target: Path) -> Iterator[Path]:
    """Yield the temporary directory of a new directory, with its missing parents inside."""
    top = target
    while not top.parent.exists():
        top = top.parent
    with temporary_path(top.parent, is_folder=True) as draft_dir:
        inside = draft_dir / target.relative_to(top.parent)
        inside.mkdir(parents=True)
        yield inside
        _flush(draft_dir)
        (draft_dir / top.name).rename(top)


def _can_swap(target: Path) -> bool:
    # An exchanged current directory would disappear for the shell that started the program.
    is_current = target in (Path.cwd(), *Path.cwd().parents)
    return not is_current and not os.path.ismount(target) and os.access(target.parent, os.W_OK | os.X_OK)


def _swap(draft_dir: Path, target: Path) -> bool:
    """Exchange the two directories; return False, with nothing changed, if that is not possible."""
    try:
        _link_missing(target, draft_dir, [MAX_OTHERS])
        shutil.copystat(target, draft_dir)
        exchange_paths(draft_dir, target)
    except OSError:
        return False
    with suppress(OSError):
        _link_missing(draft_dir, target, [MAX_OTHERS])
    return True


def _link_missing(source: Path, destination: Path, budget: list[int]) -> None:
    """Hard-link the files of *source* that *destination* lacks; *budget* holds the number still allowed."""
    with os.scandir(source) as scan:
        entries = list(scan)
    for entry in entries:
        link = destination / entry.name
        if is_temporary(entry.name) or (os.path.lexists(link) and not link.is_dir()):
            continue
        budget[0] -= 1
        if budget[0] < 0:
            raise OSError("too many files")
        if entry.is_dir(follow_symlinks=False):
            link.mkdir(exist_ok=True)
            shutil.copystat(entry.path, link)
            _link_missing(Path(entry.path), link, budget)
        else:
            os.link(entry.path, link, follow_symlinks=False)


def _replace_one_by_one(draft_dir: Path, target: Path) -> None:
    """Rename each file, deepest first; undo all renames after an error or an interrupt."""
    files = sorted(_files(draft_dir), key=lambda path: (-len(path.parts), path.name))
    with temporary_path(draft_dir, is_folder=True) as backup_dir:
        undo: list[tuple[Path, Path]] = []
        try:
            for number, path in enumerate(files):
                final = target / path.relative_to(draft_dir)
                final.parent.mkdir(parents=True, exist_ok=True)
                undo.append((final, backup_dir / str(number)))
                if final.exists():
                    shutil.copy2(final, backup_dir / str(number))
                path.replace(final)
        except BaseException:
            for final, backup in reversed(undo):
                backup.replace(final) if backup.exists() else final.unlink(missing_ok=True)
            raise


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def _flush(draft_dir: Path) -> None:
    for path in _files(draft_dir):
        fsync_path(path)
