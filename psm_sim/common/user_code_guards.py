"""Guards for calls into user code: exceptions and returned values."""

from __future__ import annotations

import copy
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, TypeVar

from psm_sim.common.errors import (
    CommandTerminated,
    InputError,
    PluginError,
    definition_location,
    describe_error,
    safe_repr,
)

Component = TypeVar("Component")


# A verb in lower case, because it reads like a function in a with statement. A class, because a generator
# would cost each decision of a user's policy 1 us.
class user_code_call:  # noqa: N801
    """Context manager that converts exceptions of user code to a PluginError.

    Parameters
    ----------
    problem : str
        Start of the message, such as ``"Policy mine failed in rest()"``.
    remedy : str
        End of the message.
    values : object
        Arguments of the user code, shown after *problem* unless None. They are formatted only on error.

    Raises
    ------
    PluginError
        For any exception, including ``SystemExit``, except :class:`InputError`, an interrupt and
        :class:`CommandTerminated`.
    """

    __slots__ = ("_problem", "_remedy", "_values")

    def __init__(self, problem: str, remedy: str = "fix the code", values: object = None) -> None:
        self._problem, self._remedy, self._values = problem, remedy, values

    def __enter__(self) -> None:
        """Enter the block."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is None or isinstance(error, (InputError, KeyboardInterrupt, CommandTerminated)):
            return
        arguments = "" if self._values is None else f" with {safe_repr(self._values)}"
        raise PluginError(f"{self._problem}{arguments}: {describe_error(error)}; {self._remedy}.") from error


def component_name(component: Any) -> str:
    """Return the name of a user's policy or loss, or the name of its class if it has none."""
    try:
        return str(component.name) or type(component).__name__
    except Exception:
        return type(component).__name__


def copy_component(
    component: Component, owner: str, remedy: str = "make it work with copy.deepcopy()"
) -> Component:
    """Return a deep copy of a policy or loss, the *component*, which *owner* names in errors.

    *remedy* is the end of the error.

    Raises
    ------
    PluginError
        If copying fails, or the copy has another class.
    """
    with user_code_call(f"{owner} cannot be copied", remedy):
        duplicate = copy.deepcopy(component)
    if type(duplicate) is not type(component):
        raise PluginError(
            f"The copy of {owner} must be of the same class, got {safe_repr(duplicate)}"
            f"{definition_location(type(component))}."
        )
    return duplicate


def config_of(config: Callable[[], Any], owner: str) -> dict[str, Any]:
    """Call the ``config()`` of a user's component, which errors call *owner*; return it as JSON values.

    Raises
    ------
    PluginError
        If it fails, or its result is not a dictionary, or contains anything but numbers, strings, booleans,
        None, lists and dictionaries.
    """
    return _checked_dictionary(config, f"{owner} failed in config()", _plain)


def report_of(report: Callable[[], Any], owner: str) -> dict[str, float]:
    """Call the ``report()`` of a user's component, which errors call *owner*; return its numbers by name.

    Raises
    ------
    PluginError
        If it fails, or its result is not a dictionary of numbers.
    """
    return _checked_dictionary(report, f"{owner} failed in report()", _number)


def _checked_dictionary(
    method: Callable[[], Any], problem: str, convert: Callable[[Any], Any]
) -> dict[str, Any]:
    """Return the dictionary of a user's *method* with converted values. *problem* begins its errors."""
    with user_code_call(problem):
        found = method()
        try:
            if not isinstance(found, dict):
                raise _WrongValueError(f"expected a dictionary, got {safe_repr(found)}")
            return {str(key): convert(value) for key, value in found.items()}
        except _WrongValueError as error:
            raise PluginError(f"{problem}: {error}{definition_location(method)}; fix the code.") from None


class _WrongValueError(Exception):
    """Value of a wrong type in a dictionary."""


def _number(value: Any) -> float:
    if not isinstance(value, Real):
        raise _WrongValueError(f"expected a dictionary of numbers, got the value {safe_repr(value)}")
    return int(value) if isinstance(value, Integral) else float(value)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    raise _WrongValueError(f"expected only numbers, strings, lists and dictionaries, got {safe_repr(value)}")
