"""Output files: checks before a command begins, and atomic writing under a temporary name.

A file has its final name only when it is complete. An error or Ctrl-C removes the temporary files. A process
that is killed leaves a file or folder named ``.psm_sim-*``, which can be deleted. If another command creates
a file under the name of a new output meanwhile, that file is not replaced.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from psm_sim.common.errors import InputError

_NEW: set[Path] = set()
"""Outputs of this command that did not exist when it began, and that it has not written yet."""


@contextmanager
def atomic_write(path: Path, owner: str = "") -> Iterator[BinaryIO]:
    """Open a temporary file that replaces *path* when the block ends, unless the block fails.

    Symbolic links are followed. A device or a FIFO cannot be replaced and is written directly. The folder of
    *path* must exist. *owner* is a prefix of the path in error messages, such as ``"--output"``.

    Raises
    ------
    InputError
        If the file cannot be written, the disk is full, or another command has written the file meanwhile.
    """
    try:
        if is_special(path):
            with path.open("wb") as file:
                yield file
            return
        target = path.resolve()
        temporary = _temporary_path(target.parent)
        try:
            with temporary.open("xb") as file:
                yield file
            _flush(temporary)
            _rename(temporary, target)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise _input_error(path, owner, f"cannot be written: {error.strerror or error}") from error


def atomic_write_text(path: Path, text: str, owner: str = "") -> None:
    """Write *text* to *path* atomically as UTF-8; see :func:`atomic_write` for *owner* and the errors."""
    with atomic_write(path, owner) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


@contextmanager
def atomic_write_gzip(path: Path) -> Iterator[BinaryIO]:
    """Open a file as :func:`atomic_write` does, gzip-compressed if its name ends in ``.gz``.

    Equal data give equal bytes.
    """
    with atomic_write(path) as file:
        if path.suffix.lower() == ".gz":
            import gzip

            # neither name nor time in the header
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=4) as gzipped:
                yield gzipped  # type: ignore[misc]
        else:
            yield file


@contextmanager
def replace_files(folder: Path) -> Iterator[Path]:
    """Yield an empty temporary folder whose files are moved to *folder* when the block ends.

    Other files of *folder* do not change. If the block fails or the disk is full, nothing changes. The files
    are renamed one by one. If a rename fails or the process is killed between two renames, some files are old
    and some are new. Each file is complete. ``metadata.json`` is renamed last, so all files are new if it is
    new. The parents of *folder* are created if necessary.

    Raises
    ------
    InputError
        If the folder cannot be written, the disk is full, or another command has written one of the files
        meanwhile.
    """
    existing = folder.absolute()
    while not existing.exists():
        existing = existing.parent
    try:
        temporary = _temporary_path(existing)
        try:
            temporary.mkdir()
            yield temporary
            files = sorted(path for path in temporary.rglob("*") if path.is_file())
            for path in files:
                _flush(path)
            for path in sorted(files, key=lambda path: path.name == "metadata.json"):
                target = folder / path.relative_to(temporary)
                target.parent.mkdir(parents=True, exist_ok=True)
                _rename(path, target)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise InputError(
            f"{folder} cannot be written: {error.strerror or error}; choose another folder."
        ) from error


def check_outputs(outputs: Iterable[tuple[str, Path]], inputs: Iterable[Path], *, force: bool) -> None:
    """Check that a command overwrites neither its inputs nor, without *force*, any existing file.

    Every command that writes files calls this function before it begins. *outputs* are pairs (option, path),
    one for each file that the command writes, and *inputs* are the files that it reads. Devices and FIFOs are
    not checked, because they are not replaced.

    Raises
    ------
    InputError
        If an output is one of the inputs, also through a link, or two outputs are the same file, or an
        output exists and *force* is false.
    """
    sources = list(inputs)
    before: list[tuple[str, Path]] = []
    for option, path in outputs:
        if is_special(path):
            continue
        if any(_is_same_file(path, source) for source in sources):
            raise InputError(
                f"{option}: the output {str(path)!r} is an input of the same command; choose another output."
            )
        for other_option, other in before:
            if _is_same_file(path, other):
                raise InputError(
                    f"{other_option} and {option} both write {str(path)!r}; choose another output."
                )
        before.append((option, path))
        if force:
            _NEW.discard(path.resolve())
        elif path.exists():
            raise InputError(
                f"{option}: {str(path)!r} already exists; choose another output, or add --force to replace"
                " it."
            )
        else:
            _NEW.add(path.resolve())


def _is_same_file(first: Path, second: Path) -> bool:
    """Return whether two paths lead to the same file, possibly through symbolic or hard links."""
    try:
        return first.samefile(second)
    except OSError:  # one path does not exist
        return first.resolve() == second.resolve()


def check_writable(path: Path, owner: str = "") -> None:
    """Check that :func:`atomic_write` can write to *path*; errors start with *owner*.

    Raises
    ------
    InputError
        If *path* is a folder or is not writable, or its folder does not exist or is not writable.
    """
    if path.is_dir():
        raise _input_error(path, owner, "is a folder")
    folder = path.resolve().parent
    if not is_special(path) and not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        raise _input_error(path, owner, f"cannot be written: {str(folder)!r} is not a writable folder")
    if path.exists() and not os.access(path, os.W_OK):
        raise _input_error(path, owner, "cannot be written: it is write-protected")


def is_special(path: Path) -> bool:
    """Return whether *path* is neither a regular file nor a folder, but a device, FIFO or socket."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _temporary_path(folder: Path) -> Path:
    # tempfile is not used, because its files are private to the user, whatever the umask is.
    return folder / f".psm_sim-{os.urandom(8).hex()}"


def _flush(path: Path) -> None:
    """Flush a file to disk. Otherwise, a power failure after the rename may leave an empty file."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def _rename(temporary: Path, target: Path) -> None:
    """Rename *temporary* to *target*. If *target* exists, keep its permissions."""
    if target.resolve() in _NEW:
        try:
            os.link(temporary, target)  # unlike a rename, a link does not replace a file
        except FileExistsError:
            raise InputError(
                f"Another command has written {str(target)!r} meanwhile; choose another output."
            ) from None
        except OSError:  # the file system has no hard links
            pass
        _NEW.remove(target.resolve())
    with suppress(OSError):
        temporary.chmod(stat.S_IMODE(target.stat().st_mode))
    temporary.replace(target)


def _input_error(path: Path, owner: str, problem: str) -> InputError:
    name = f"{owner} {str(path)!r}" if owner else str(path)
    return InputError(f"{name} {problem}; choose another file.")
