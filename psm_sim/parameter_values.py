"""Values of one parameter: which are allowed, in words, and how they are read from text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from psm_sim.errors import InputError

_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@dataclass(frozen=True)
class Parameter:
    """One documented model choice."""

    name: str
    default: Any
    help: str = ""
    unit: str = ""
    above: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False
    kind: type | None = None  # of the values, where the default is None and does not show it
    attribute: str = ""  # of the component, where it is not called by the parameter's name

    @property
    def _like(self) -> Any:
        """A value of the kind that is wanted."""
        if self.default is not None:
            return self.default
        bounded = (self.above, self.at_least, self.at_most) != (None, None, None)
        kind = self.kind or (float if bounded else None)
        return kind() if kind else None

    @property
    def range(self) -> str:
        """Range of the values allowed, in words."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        bounds = []
        if self.above is not None:
            bounds.append(f"above {self.above:g}")
        if self.at_least is not None:
            bounds.append(f"of at least {self.at_least:g}")
        if self.at_most is not None:
            bounds.append(f"{'' if bounds else 'of '}at most {self.at_most:g}")
        words = f"{_noun(self._like)} {' and '.join(bounds)}".rstrip()
        return f"{words}, or none" if self.optional else words

    def check(self, value: Any, owner: str) -> Any:
        """Return *value* if it lies in the range, else raise :class:`InputError`."""
        if value is None and self.optional:
            return value
        if not self._usable(value):
            raise InputError(f"{owner}: {self.name} is {value!r}; expected {self.range}.")
        return value

    def _usable(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        if isinstance(self._like, bool):
            return isinstance(value, bool)
        return self._in_range(value) if isinstance(self._like, Real) else True

    def _in_range(self, value: Any) -> bool:
        wanted: Any = Integral if isinstance(self._like, int) else Real
        if isinstance(value, bool) or not isinstance(value, wanted):
            return False
        try:
            number = float(value)
        except OverflowError:
            return False
        return (
            math.isfinite(number)
            and (self.above is None or number > self.above)
            and (self.at_least is None or number >= self.at_least)
            and (self.at_most is None or number <= self.at_most)
        )

    def read(self, text: str, owner: str) -> Any:
        """Turn command-line text into a checked value of the default's kind."""
        word = text.strip()
        try:
            value = self._parse(word)
            usable = (value is None and self.optional) or self._usable(value)
        except (KeyError, ValueError):
            usable = False
        if not usable:
            raise InputError(f"{owner}: {self.name} is {text!r}; expected {self.range}.")
        return value

    def _parse(self, word: str) -> Any:
        if self.optional and word.lower() == "none":
            return None
        if isinstance(self._like, bool):
            return _WORDS[word.lower()]
        if isinstance(self._like, int):
            return int(word)
        if isinstance(self._like, float):
            return float(word)
        return word if isinstance(self._like, str) or self.choices else _guess(word)


def _guess(word: str) -> Any:
    """Return the whole number, number or truth value that *word* spells, else *word* itself."""
    for kind in (int, float, lambda text: _WORDS[text.lower()]):
        try:
            return kind(word)
        except (KeyError, ValueError):
            continue
    return word


def _noun(default: Any) -> str:
    if isinstance(default, bool):
        return "true or false"
    if isinstance(default, int):
        return "a whole number"
    return "a text" if isinstance(default, str) else "a number"
