"""Sentences for people on standard error: errors, remarks and warnings, each in one line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from psm_sim.errors import PLUGIN, CommandTerminated, InputError, describe_error, source_location
from psm_sim.formatting import one_line_message


def report_error(error: BaseException) -> int:
    """Say in one line why the command ended; return the exit status."""
    if isinstance(error, KeyboardInterrupt):
        words, status = "interrupted.", 130
    elif isinstance(error, CommandTerminated):
        words, status = str(error), error.status
    else:
        words, status = _words(error), 2
    print_message(words)
    return status


def _words(error: BaseException) -> str:
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename or 'the output'} cannot be used: {error.strerror or error}."
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; give a smaller file, or fewer pages, records or experts."
    if source_location(error):
        return f"{describe_error(error)}; mend the file."
    return f"internal error: {describe_error(error)}. Please report it, with the output of --debug."


def print_message(words: str, name: str = "psm_sim: ") -> None:
    """Print a remark or an error as one line that any terminal shows, after *name*."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(f"{name}{one_line_message(words)}", file=sys.stderr)  # noqa: T201


@contextmanager
def print_plugin_warnings() -> Iterator[None]:
    """Print warnings from users' own files as remarks, and no others: those of libraries are not for them."""
    before = warnings.showwarning

    def told(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any) -> None:
        files = (getattr(module, "__file__", "") for name, module in _plugins())
        if filename in files:
            print_message(f"{filename}, line {lineno}: {category.__name__}: {message}")

    warnings.showwarning = told  # type: ignore[assignment]
    try:
        yield
    finally:
        warnings.showwarning = before


def _plugins() -> Iterator[tuple[str, object]]:
    return ((name, module) for name, module in list(sys.modules.items()) if name.startswith(PLUGIN))
