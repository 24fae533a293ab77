"""Errors that a user can mend, and the words that errors have in common."""

from __future__ import annotations

from collections.abc import Iterable


class InputError(ValueError):
    """Something the user gave cannot be used.

    The message is one sentence: what is wrong, the value given, what is expected and what to do.
    The command line prints it on standard error and ends with exit status 2.
    """


class PluginError(InputError):
    """A user's own policy or loss cannot be loaded, or returned something unusable."""


def reason(error: BaseException) -> str:
    """Return the type and message of an error in one line, to stand inside a sentence."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def nearest(word: str, words: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` with the one of *words* most like *word*; ``""`` if none is near."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(words), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
