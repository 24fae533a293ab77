"""User code: calls into a user's own file, whatever they raise, return or print."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from numbers import Integral, Real
from typing import Any, TypeVar

from psm_sim.errors import CommandTerminated, InputError, PluginError, describe_error, safe_repr

Part = TypeVar("Part")

_MAX_DEPTH = 20


class calling:  # noqa: N801 (read as a verb; a class, since a generator would cost a policy 1 us for each question)
    """Turn what the block raises into an error that says whose code failed, where, and with what.

    Parameters
    ----------
    told
        The beginning of the sentence, such as ``"Policy mine failed in rest()"``.
    remedy
        Its end.
    values
        What the code was given, shown behind *told* if any; made a text only if the block fails.

    Raises
    ------
    PluginError
        For anything but an :class:`InputError`, an interrupt or the end of the program; also ``SystemExit``.
    """

    __slots__ = ("_remedy", "_told", "_values")

    def __init__(self, told: str, remedy: str = "mend it", values: object = None) -> None:
        self._told, self._remedy, self._values = told, remedy, values

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is None or isinstance(error, (InputError, KeyboardInterrupt, CommandTerminated)):
            return
        given = "" if self._values is None else f" with {safe_repr(self._values)}"
        raise PluginError(f"{self._told}{given}: {describe_error(error)}; {self._remedy}.") from error


@contextmanager
def redirect_stdout_to_stderr() -> Iterator[None]:
    """Let what a user's code prints in the block go to standard error: the result alone is on the output."""
    with redirect_stdout(sys.stderr):
        yield


def component_name(part: Any) -> str:
    """Return the name of a user's policy or loss; that of its class if it has none that can be read."""
    try:
        return str(part.name) or type(part).__name__
    except Exception:
        return type(part).__name__


def copy_component(part: Part, owner: str) -> Part:
    """Return a copy of a policy or loss.

    Raises
    ------
    PluginError
        If it cannot be copied, or the copy is of another class; *owner* is what it is called.
    """
    with calling(f"{owner} cannot be copied", "expected one that can"):
        found = copy.deepcopy(part)
    if type(found) is not type(part):
        raise PluginError(f"{owner}: its copy is {safe_repr(found)}; expected one of its own class.")
    return found


def to_plain(parameters: Any) -> dict[str, Any]:
    """Return a user's ``config()`` as values that JSON has.

    Raises
    ------
    TypeError
        If it is no dictionary, nested too deeply, or holds anything but numbers, texts, truth values, None,
        lists and dictionaries of these.
    """
    if not isinstance(parameters, dict):
        raise TypeError(f"config() returned {safe_repr(parameters)}, expected a dictionary")
    return {str(key): _plain(value, _MAX_DEPTH) for key, value in parameters.items()}


def _plain(value: Any, left: int) -> Any:
    if not left:
        raise TypeError("config() is nested too deeply")
    if isinstance(value, dict):
        return {str(key): _plain(item, left - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, left - 1) for item in value]
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Integral) and abs(int(value)) < 10**300:
        return int(value)
    if isinstance(value, Real):
        return float(value)
    raise TypeError(
        f"config() holds {safe_repr(value)}, expected plain numbers, texts, lists and dictionaries"
    )
