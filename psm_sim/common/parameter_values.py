"""Declaration of one parameter: default, unit, range, and conversion from text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from psm_sim.common.errors import InputError

_BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@dataclass(frozen=True)
class Parameter:
    """Declared parameter of a component.

    Attributes
    ----------
    name : str
        Name on the command line and in results.
    default : object
        Default value. Its type is the type of the parameter.
    help : str
        Description for listings and help texts.
    unit : str
        Unit of the values; empty for none.
    above, at_least, at_most : float or None
        Bounds: exclusive lower, inclusive lower and inclusive upper. None disables a bound.
    choices : tuple of str
        Allowed values; empty allows any.
    optional : bool
        Whether None is allowed.
    kind : type or None
        Type of the values if the default is None and does not show it.
    attribute : str
        Attribute of the component, if its name differs from the parameter's.
    """

    name: str
    default: Any
    help: str = ""
    unit: str = ""
    above: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False
    kind: type | None = None
    attribute: str = ""

    @property
    def _example(self) -> Any:
        """Value of the expected type."""
        if self.default is not None:
            return self.default
        bounded = (self.above, self.at_least, self.at_most) != (None, None, None)
        kind = self.kind or (float if bounded else None)
        return kind() if kind else None

    @property
    def range(self) -> str:
        """Expected values as text, such as ``"a number > 0"``."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        bounds = []
        if self.above is not None:
            bounds.append(f"> {self.above:g}")
        if self.at_least is not None:
            bounds.append(f">= {self.at_least:g}")
        if self.at_most is not None:
            bounds.append(f"<= {self.at_most:g}")
        text = f"{_noun(self._example)} {' and '.join(bounds)}".rstrip()
        return f"{text}, or none" if self.optional else text

    def check(self, value: Any, owner: str) -> Any:
        """Return *value* if it is in the range, else raise an :class:`InputError` that names *owner*."""
        if value is None and self.optional:
            return value
        if not self._is_valid(value):
            raise InputError(f"{owner}: {self.name} must be {self.range}, got {value!r}.")
        return value

    def _is_valid(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        if isinstance(self._example, bool):
            return isinstance(value, bool)
        return self._in_range(value) if isinstance(self._example, Real) else True

    def _in_range(self, value: Any) -> bool:
        expected: Any = Integral if isinstance(self._example, int) else Real
        if isinstance(value, bool) or not isinstance(value, expected):
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
        """Convert command-line *text* to a valid value; errors name *owner*."""
        stripped = text.strip()
        try:
            value = self._parse(stripped)
            valid = (value is None and self.optional) or self._is_valid(value)
        except (KeyError, ValueError):
            valid = False
        if not valid:
            raise InputError(f"{owner}: {self.name} must be {self.range}, got {text!r}.")
        return value

    def _parse(self, text: str) -> Any:
        if self.optional and text.lower() == "none":
            return None
        if isinstance(self._example, bool):
            return _BOOLEANS[text.lower()]
        if isinstance(self._example, int):
            return int(text)
        if isinstance(self._example, float):
            return float(text)
        return text if isinstance(self._example, str) or self.choices else _guess(text)


def _guess(text: str) -> Any:
    """Return *text* as an integer, a number or a boolean if it is one, else unchanged."""
    for convert in (int, float, lambda word: _BOOLEANS[word.lower()]):
        try:
            return convert(text)
        except (KeyError, ValueError):
            continue
    return text


def _noun(default: Any) -> str:
    if isinstance(default, bool):
        return "true or false"
    if isinstance(default, int):
        return "an integer"
    return "a string" if isinstance(default, str) else "a number"
