"""Errors that a user can mend, and the words that errors have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable

PLUGIN = "psm_sim_plugin_"
"""The beginning of the names of modules that are users' own files."""

_MAX_LENGTH = 200


class InputError(ValueError):
    """Something the user gave cannot be used.

    The message is one sentence: what is wrong, the value given, what is expected and what to do.
    The command line prints it on standard error and ends with exit status 2.
    """


class PluginError(InputError):
    """A user's own policy or loss cannot be loaded, or returned something unusable."""

    def on_page(self, number: int) -> PluginError:
        """Return the same error, which says on which page of the run it was raised."""
        return PluginError(f"On page {number}: {self}")


class CommandTerminated(BaseException):
    """The command is to end now; no ``except Exception`` of a user's code catches it.

    Parameters
    ----------
    message
        One sentence for the user.
    status
        The exit status.
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def describe_error(error: BaseException) -> str:
    """Return place, type and message of an error in one line, to stand inside a sentence.

    The place is the file and line of a user's own code, if the error comes from there.
    """
    words = [type(error).__name__, *([safe_repr(error, str)] if safe_repr(error, str) else [])]
    return " ".join(f"{': '.join(words)}{source_location(error)}".split())


def safe_repr(value: object, how: Callable[[object], str] = repr) -> str:
    """Return ``repr(value)``, or ``how(value)``, at most 200 characters; what fails in it is only named."""
    try:
        text = how(value)
    except BaseException:  # a user's own __repr__ can raise anything, a very long number a ValueError
        return f"<{type(value).__name__}>"
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 3] + "..."


def source_location(error: BaseException) -> str:
    """Return ``" (my.py, line 7)"``, where in a user's own file an error arose; ``""`` if elsewhere."""
    place, step = "", error.__traceback__
    while step is not None:
        if str(step.tb_frame.f_globals.get("__name__", "")).startswith(PLUGIN):
            place = f" ({step.tb_frame.f_code.co_filename}, line {step.tb_lineno})"
        step = step.tb_next
    return place


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` with the one of *words* most like *word*; ``""`` if none is near."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(words), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
