"""Exceptions of psm_sim and helpers for their messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

PLUGIN = "psm_sim_plugin_"
"""Prefix of the module names under which users' files are imported."""

_MAX_LENGTH = 200  # two lines of a terminal


class InputError(ValueError):
    """Invalid input of the user.

    The message is one line that states the problem, the value and the expected value. The command line
    prints the message to standard error and exits with status 2.
    """


class PluginError(InputError):
    """Failure of a user-defined component, such as a policy that cannot be loaded."""

    def on_page(self, number: int) -> PluginError:
        """Return a copy of the error whose message starts with the page *number*."""
        return PluginError(f"On page {number}: {self}")


class CommandTerminated(BaseException):
    """Request to end the command with a *status*.

    The class is not derived from Exception, so that ``except Exception`` in user code does not catch it.
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def describe_error(error: BaseException) -> str:
    """Return type, message and location of an error in one line, as part of another message.

    The location is the file and line of user code, if the error arose there.
    """
    parts = filter(None, (type(error).__name__, safe_repr(error, str)))
    return " ".join(f"{': '.join(parts)}{source_location(error)}".split())


def safe_repr(value: object, convert: Callable[[object], str] = repr) -> str:
    """Return ``convert(value)`` cut to 200 characters, or the name of the type if that fails."""
    try:
        text = convert(value)
    except BaseException:  # a user's __repr__ may raise anything; a very long int raises ValueError
        return f"<{type(value).__name__}>"
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 3] + "..."


def source_location(error: BaseException) -> str:
    """Return the innermost user file of the traceback as ``" (my.py, line 7)"``, or ``""``."""
    location, step = "", error.__traceback__
    while step is not None:
        if str(step.tb_frame.f_globals.get("__name__", "")).startswith(PLUGIN):
            location = f" ({step.tb_frame.f_code.co_filename}, line {step.tb_lineno})"
        step = step.tb_next
    return location


def definition_location(component: object) -> str:
    """Return file and line of a user's function or class as ``" (my.py, line 7)"``, or ``""``.

    Unlike :func:`source_location`, this function needs no traceback, so it also locates code that returned a
    wrong value.
    """
    import inspect

    if str(getattr(component, "__module__", "psm_sim.")).startswith("psm_sim."):
        return ""
    try:
        lines: Any = inspect.getsourcelines(component)  # type: ignore[arg-type]
        return f" ({inspect.getsourcefile(component)}, line {lines[1]})"  # type: ignore[arg-type]
    except (OSError, TypeError):  # code without a file
        return ""


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the closest match in *names*, or ``""`` if no name is close."""
    closest = max(names, key=lambda each: (_similarity(name, each), -len(each), each), default="")
    return f" Did you mean {closest!r}?" if _similarity(name, closest) >= _CLOSE else ""


def one_of(name: str, names: Iterable[str]) -> str:
    """Return ``"one of a, b, c"``.

    More than 25 names are cut to those similar to *name* or, if none is similar, to those without a dot.
    """
    names = list(names)
    if len(names) <= _MANY:
        return f"one of {', '.join(names)}" if len(names) > 1 else names[0]
    nearest = sorted(names, key=lambda each: -_similarity(name, each))[:_NEAREST]
    close = [near for near in nearest if _similarity(name, near) >= _CLOSE]
    shown = close or [other for other in names if "." not in other]
    return f"one of {len(names)} names{', such as ' if shown else ''}{', '.join(shown)}"


_CLOSE = 0.65  # three letters with one wrong or two swapped have a similarity of 2/3
_MANY, _NEAREST = 25, 5  # more than 25 names fill the terminal, so the five nearest are listed


def _similarity(name: str, valid: str) -> float:
    """Return the similarity of two names from 0 to 1, regardless of case and leading dashes.

    A *name* without a dot, such as ``interval``, is compared with the part of *valid* after its last dot.
    """
    from difflib import SequenceMatcher

    wanted, full = name.lower().lstrip("-"), valid.lower().lstrip("-")
    key = full if "." in wanted else full.rpartition(".")[2]
    if "," in wanted:  # several names
        return 0.0
    ratio = SequenceMatcher(None, wanted, key).ratio()
    return max(ratio, _CLOSE) if len(wanted) > 2 and key.startswith(f"{wanted}_") else ratio
