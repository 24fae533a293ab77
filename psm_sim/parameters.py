"""Parameters: declared once with default, unit, range and a sentence, then read from text and checked.

A component is a dataclass whose fields are made with :func:`parameter`; a user's plug-in may be any
class, then names and defaults come from its signature.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

from psm_sim.errors import InputError, nearest, reason

_KEY = "psm_sim"
_REQUIRED = inspect.Parameter.empty
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@dataclasses.dataclass(frozen=True)
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
        """What values are allowed, in words."""
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


def parameter(default: Any, help: str, **facts: Any) -> Any:  # noqa: A002
    """Declare one dataclass field as a documented parameter; *facts* are those of :class:`Parameter`."""
    return dataclasses.field(default=default, metadata={_KEY: {"help": help, **facts}})


def parameters_of(cls: type) -> dict[str, Parameter]:
    """Return the parameters of a class, by name: declared ones, else those of its signature.

    A class that is no dataclass may declare the facts of each in a dictionary ``DECLARED``.
    """
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    declared = {field.name: field.metadata.get(_KEY, {}) for field in fields}
    declared |= getattr(cls, "DECLARED", {})
    return {
        name: Parameter(name, None if default is _REQUIRED else default, **declared.get(name, {}))
        for name, default in _arguments(cls).items()
    }


def _arguments(cls: type) -> dict[str, Any]:
    """Return the defaults of the constructor's named arguments, ``_REQUIRED`` where there is none."""
    arguments = inspect.signature(cls).parameters.values()
    unnamed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {argument.name: argument.default for argument in arguments if argument.kind not in unnamed}


def build(cls: type, texts: Mapping[str, str], owner: str, /, **given: Any) -> Any:
    """Make an instance of *cls* from command-line text and values *given*, or say what is wrong.

    Raises
    ------
    InputError
        If a parameter is unknown, missing or out of its range, or the class itself refuses the values.
    """
    known = parameters_of(cls)
    for name in (*texts, *given):
        if name not in known:
            raise InputError(f"{owner} has no parameter {name!r}; {_expected(name, known)}")
    values = {name: known[name].read(text, owner) for name, text in texts.items()}
    values |= {name: known[name].check(value, owner) for name, value in given.items()}
    for name, default in _arguments(cls).items():
        if default is _REQUIRED and name not in values:
            raise InputError(f"{owner}: {name} is missing; expected {name}=value, since it has no default.")
    try:
        return cls(**values)
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{owner} cannot be made with {values}: {reason(error)}; expected other values."
        ) from error


def _expected(name: str, known: Iterable[str]) -> str:
    return f"expected {', '.join(known) or 'no parameters'}.{nearest(name, known)}"


def check_all(instance: Any, owner: str) -> None:
    """Check every declared parameter of a dataclass instance; call it from ``__post_init__``."""
    for name, declared in parameters_of(type(instance)).items():
        declared.check(getattr(instance, name), owner)


def values_of(instance: Any) -> dict[str, Any]:
    """Return the parameters of an instance as plain values, for the result's ``parameters``."""
    return {name: _plain(getattr(instance, name, None)) for name in parameters_of(type(instance))}


def _plain(value: Any) -> Any:
    """Return *value* as JSON knows it: a number, truth value, text or None; anything else as text."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else str(value)


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
