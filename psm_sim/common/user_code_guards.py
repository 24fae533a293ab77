"""Time and memory limits of user-defined components, and a guard that names the component in errors."""

from __future__ import annotations

import copy
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from numbers import Integral, Real
from typing import Any, TypeVar

from psm_sim.common.errors import (
    PLUGIN,
    CommandTerminated,
    InputError,
    PluginError,
    definition_location,
    describe_error,
    safe_repr,
)

_Component = TypeVar("_Component")

START_S = 60.0
"""Time limit of importing a file, and of creating, starting or finishing a component, in seconds."""

CALL_S = 5.0
"""Time limit of any other call of user code, in seconds; ``anticipate`` decides within 11 ms on ``ucb``."""

MEMORY = 2 << 30
"""Maximum memory of a process that has imported a user's file, in bytes. psm_sim needs under 0.2 GB."""

MAX_NUMBERS = 1000
"""Maximum number of values in a report."""

_SPARE_MEMORY = 256 << 20
"""Additional memory of psm_sim after user code has reached the maximum, in bytes."""

STUCK = f"a call has not returned for {CALL_S:g} s"
"""Message for a process that SIGVTALRM has ended; see :func:`limit_user_code`."""

_LONG = ("load", "open", "start", "finish")
_TICK_S = 0.5  # small compared with CALL_S


class _Calls(threading.local):
    """Calls of user code that run in this thread, the outermost first."""

    def __init__(self) -> None:
        self.running: list[user_code_call] = []


_calls = _Calls()
_copied_calls: list[user_code_call] = []
"""Calls that were running when user code forked this process."""


class TimeLimitError(BaseException):
    """Call that exceeded its time limit. ``except Exception`` in user code does not catch it."""


def time_limit_s(method: str) -> float:
    """Return the time that a call of a *method* may take, in seconds."""
    return START_S if method in _LONG else CALL_S


def limit_user_code() -> None:
    """Limit the time of user code in the main thread, and the memory after the import of a user's file.

    If a library call does not return to Python in time, the signal SIGVTALRM ends the process. If a call of
    user code forks this process, the child process ends when that call ends.
    """
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _limit_time)
        signal.setitimer(signal.ITIMER_REAL, _TICK_S, _TICK_S)
        os.register_at_fork(after_in_child=lambda: _copied_calls.extend(_calls.running))


def limits_user_code() -> bool:
    """Return whether user code in this process has limits, see :func:`limit_user_code`."""
    return hasattr(signal, "setitimer") and signal.getsignal(signal.SIGALRM) is _limit_time


def limit_memory(size: int = MEMORY) -> None:
    """Limit the memory of this process to *size* bytes, if the user code in it is limited."""
    if limits_user_code():
        import resource

        if resource.getrlimit(resource.RLIMIT_DATA)[0] < size:  # -1 for none
            with suppress(ValueError, OSError):  # a lower limit
                resource.setrlimit(resource.RLIMIT_DATA, (size, MEMORY + _SPARE_MEMORY))


def is_memory_spent() -> bool:
    """Return whether user code has reached the memory limit, so that another process should run the rest."""
    if not hasattr(signal, "setitimer"):
        return False
    import resource

    return resource.getrlimit(resource.RLIMIT_DATA)[0] == MEMORY + _SPARE_MEMORY


def _limit_time(*_: object) -> None:
    """Count down the time of the main thread's outermost call at each tick, and end it when no time is left.

    Without ticks, every call would have to read the clock. Python does not call this function during a
    library call. If a library call takes too long, the timer that is set here ends the process.
    """
    signal.setitimer(signal.ITIMER_VIRTUAL, CALL_S)
    for call in _calls.running[:1]:
        call.left_s -= _TICK_S
        if call.left_s < 0:
            raise TimeLimitError(f"no result within {call.limit_s:g} s")


# The name is lower-case, because the class is used like a function. A generator would add 1 us to each
# decision of a user's policy.
class user_code_call:  # noqa: N801
    """Context manager that converts exceptions of user code to a PluginError.

    Parameters
    ----------
    problem : str
        Start of the message, such as ``"Policy my.py:Mine failed in rest()"``.
    remedy : str
        End of the message.
    values : object
        Arguments of the user code, shown after *problem* unless None. They are formatted only on error.
    limit_s : float
        Time limit in seconds, which has an effect after :func:`limit_user_code`.

    Raises
    ------
    PluginError
        For any exception, including ``SystemExit`` and ``KeyboardInterrupt``, except :class:`InputError`,
        :class:`CommandTerminated` and Ctrl-C.
    """

    __slots__ = ("_problem", "_remedy", "_values", "left_s", "limit_s")

    def __init__(
        self,
        problem: str,
        remedy: str = "fix the code",
        values: object = None,
        limit_s: float = START_S,
    ) -> None:
        self._problem, self._remedy, self._values = problem, remedy, values
        self.limit_s = self.left_s = limit_s

    def __enter__(self) -> None:
        _calls.running.append(self)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        _calls.running.pop()
        if _copied_calls and any(call is self for call in _copied_calls):
            os._exit(0)
        if error is None or isinstance(error, (InputError, CommandTerminated)) or _is_ctrl_c(error):
            return
        if isinstance(error, MemoryError):
            limit_memory(MEMORY + _SPARE_MEMORY)
        arguments = "" if self._values is None else f" with {one_line_repr(self._values)}"
        raise PluginError(f"{self._problem}{arguments}: {describe_error(error)}; {self._remedy}.") from error


def _is_ctrl_c(error: BaseException) -> bool:
    """Return whether *error* is Ctrl-C, which raises KeyboardInterrupt only under Python's own handler."""
    handler = signal.getsignal(signal.SIGINT)
    return isinstance(error, KeyboardInterrupt) and handler is signal.default_int_handler


def one_line_repr(values: object) -> str:
    """Return the shortened representation of *values* on one line."""
    return " ".join(safe_repr(values).split())


def component_name(component: Any) -> str:
    """Return ``FILE.py:CLASS`` of a component from a user's file, otherwise its name or class name."""
    cls = type(component)
    if cls.__module__.startswith(PLUGIN):
        return f"{sys.modules[cls.__module__].__file__}:{cls.__name__}"
    try:
        return str(component.name) or cls.__name__
    except Exception:
        return cls.__name__


def copy_component(
    component: _Component, owner: str, remedy: str = "make it work with copy.deepcopy()"
) -> _Component:
    """Return a deep copy of a policy or loss.

    Error messages call the component *owner* and end with *remedy*.

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


class WrongResultError(Exception):
    """Wrong result of user code; the message states what was returned and what is expected."""


class Guard:
    """Wrapper of a user's policy, loss or learner, which names the component in errors.

    It has the attributes of the component. A call of a method converts any exception to a
    :class:`PluginError` with the arguments and the line of the user's file, and checks the result.

    Parameters
    ----------
    component : object
        User's policy, loss or learner.
    label : str
        Kind and name of the component, such as ``"Policy mine"``.
    checks : mapping of str to callable
        For each method, a function that checks and perhaps converts its result, or raises
        :class:`WrongResultError`.
    """

    component: Any

    def __init__(self, component: Any, label: str, checks: Mapping[str, Callable[..., Any]]) -> None:
        self.__dict__.update(component=component, _label=label, _checks=checks)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copy and pickle use the methods of the guard
            raise AttributeError(name)
        value = getattr(self.component, name)
        return partial(self.call, name) if callable(value) else value

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.component, name, value)

    def call(self, method: str, *arguments: Any) -> Any:
        """Return the checked result of a *method* of the component."""
        problem = f"{self._label} failed in {method}()"
        with user_code_call(problem, "fix the code", arguments or None, time_limit_s(method)):
            bound = getattr(self.component, method)
            result = bound(*arguments)
            if method not in self._checks:
                return result
            try:
                return self._checks[method](result, *arguments)
            except WrongResultError as error:
                location = f" with {one_line_repr(arguments)}" if arguments else ""
                raise PluginError(
                    f"{problem}{location}: it returned {error}{definition_location(bound)}; fix the code."
                ) from None


def plain_values(config: Any) -> dict[str, Any]:
    """Return the result of ``config()`` as JSON values."""
    return {str(key): _plain(value) for key, value in _dictionary(config).items()}


def numbers(report: Any) -> dict[str, float]:
    """Return the result of ``report()`` as numbers by name."""
    if len(_dictionary(report)) > MAX_NUMBERS:
        raise WrongResultError(f"{len(report)} numbers; expected at most {MAX_NUMBERS}")
    return {str(key): _number(value) for key, value in report.items()}


def _dictionary(value: Any) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise WrongResultError(f"{safe_repr(value)}; expected a dictionary")
    return value


def _number(value: Any) -> float:
    if not isinstance(value, Real):
        raise WrongResultError(f"the value {safe_repr(value)}; expected a dictionary of numbers")
    return int(value) if isinstance(value, Integral) else float(value)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Real):
        return _number(value)
    raise WrongResultError(
        f"the value {safe_repr(value)}; expected only numbers, strings, lists and dictionaries"
    )
