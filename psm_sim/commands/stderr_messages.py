"""One-line messages on standard error: errors, remarks and warnings."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from psm_sim.common.errors import PLUGIN, CommandTerminated, InputError, describe_error, source_location
from psm_sim.common.formatting import one_line_message


def report_error(error: BaseException) -> int:
    """Print why the command ended, and return its exit status."""
    if isinstance(error, KeyboardInterrupt):
        message, status = "interrupted.", 130
    elif isinstance(error, CommandTerminated):
        message, status = str(error), error.status
    else:
        message, status = _message_of(error), 2
    print_message(message)
    return status


def _message_of(error: BaseException) -> str:
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, OSError):
        return f"cannot access {error.filename or 'the output'}: {error.strerror or error}."
    if isinstance(error, MemoryError):
        return "out of memory; use a smaller file, or fewer pages, records or experts."
    if source_location(error):
        return f"{describe_error(error)}; fix the file."
    return f"internal error: {describe_error(error)}. Please report it, with the output of --debug."


def print_message(message: str, prefix: str = "psm_sim: ") -> None:
    """Print *prefix* and *message* as one printable line to standard error."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(f"{prefix}{one_line_message(message)}", file=sys.stderr)  # noqa: T201


@contextmanager
def print_plugin_warnings() -> Iterator[None]:
    """Print the warnings of users' files as remarks, and suppress the warnings of libraries."""
    before = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any) -> None:
        plugins = [module for name, module in sys.modules.items() if name.startswith(PLUGIN)]
        if filename in [getattr(plugin, "__file__", "") for plugin in plugins]:
            print_message(f"{filename}, line {lineno}: {category.__name__}: {message}")

    warnings.showwarning = show  # type: ignore[assignment]
    try:
        yield
    finally:
        warnings.showwarning = before
