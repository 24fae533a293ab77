"""Files that user code opens while it runs: its modules and its data.

These files are known only after a run. Their digests are stored with the result, which is outdated when one
of the files changes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import source_from_cache
from pathlib import Path
from typing import Any

from psm_sim.common.errors import PLUGIN, InputError
from psm_sim.common.input_files import PACKAGE, bundled_dir, file_digest

_BUNDLED = (PACKAGE, *map(bundled_dir, ("traces", "topologies")))
_LIBRARIES = tuple(
    f"{folder}{os.sep}" for folder in (*_BUNDLED, sys.prefix, sys.base_prefix, "/proc", "/sys")
)
_INSTALLED = {"site-packages", "dist-packages"}

_digests: dict[Path, str] = {}
"""Digests of the files that this process has opened in the blocks of :func:`note_opened_files`."""

_written: set[Path] = set()
_noting: list[Path | None] = []
"""List with one None for each active block of :func:`note_opened_files`.

While the digest of a file is computed, the list also contains the file.
"""


@contextmanager
def note_opened_files() -> Iterator[None]:
    """Record the digests of the files that this process opens in the block."""
    _add_hook()
    _noting.append(None)
    try:
        yield
    finally:
        _noting.remove(None)


def add_opened_files(digests: Mapping[str, str]) -> None:
    """Add the *digests*, by path, of files that another process has opened for this process."""
    _digests.update({Path(path): digest for path, digest in digests.items()})


def opened_files(named: Iterable[str] = ()) -> dict[str, str]:
    """Return the digests of the files that user code has opened in this process, by their absolute paths.

    They include imported modules, but not the *named* files, files that this process has written, or files of
    psm_sim, the interpreter and installed packages.
    """
    for name, module in list(sys.modules.items()):  # may have been imported before the first block
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or name.startswith(PLUGIN) or file.startswith(_LIBRARIES):
            continue  # most modules belong to libraries, and making their paths would take 15 ms per call
        if Path(file).absolute() not in _digests:
            _note(Path(file).absolute())
    for path in named:
        _digests.pop(Path(path).absolute(), None)
    return {str(path): digest for path, digest in _digests.items()}


def are_unchanged(digests: Mapping[str, str]) -> bool:
    """Return whether each file in *digests*, a mapping from path to digest, is unchanged."""
    return all(_digest(Path(path)) == digest for path, digest in digests.items())


@cache
def _add_hook() -> None:
    sys.addaudithook(_hook)  # cannot be removed


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open" or not _noting or isinstance(arguments[0], int):
        return
    name, _, flags = arguments
    path = Path(os.fsdecode(name)).absolute()
    if flags & (os.O_TRUNC | os.O_EXCL):
        _written.add(path)
    elif not flags & os.O_WRONLY:
        _note(path)


def _note(path: Path) -> None:
    if path.suffix == ".pyc":  # the compiled code of a module, in __pycache__ or below sys.pycache_prefix
        with suppress(ValueError):
            path = Path(source_from_cache(path))
    is_library = str(path).startswith(_LIBRARIES) or _INSTALLED.intersection(path.parts)
    if is_library or path in _written or path in _noting or not path.is_file():
        return
    _noting.append(path)  # computing the digest opens the file, too
    _digests[path] = _digest(path)
    _noting.remove(path)


def _digest(path: Path) -> str:
    """Return the digest of a file, or an empty text if it cannot be read."""
    try:
        return file_digest(path)
    except InputError:
        return ""
