"""Parameters: declared once with default, unit, range and a sentence, then read from text and checked.

A component is a dataclass whose fields are made with :func:`parameter`; a user's plug-in may be any
class, then names and defaults come from its signature.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Mapping
from typing import Any

from psm_sim.errors import InputError

_KEY = "psm_sim"
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

    @property
    def range(self) -> str:
        """What values are allowed, in words."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        bounds = []
        if self.above is not None:
            bounds.append(f"above {self.above:g}")
        if self.at_least is not None:
            bounds.append(f"at least {self.at_least:g}")
        if self.at_most is not None:
            bounds.append(f"at most {self.at_most:g}")
        words = f"{_noun(self.default)} {' and '.join(bounds)}".rstrip()
        return f"{words}, or none" if self.optional else words

    def check(self, value: Any, owner: str) -> Any:
        """Return *value* if it lies in the range, else raise :class:`InputError`."""
        if value is None and self.optional:
            return value
        if self.choices:
            usable = value in self.choices
        elif isinstance(self.default, (int, float)) and not isinstance(self.default, bool):
            usable = self._holds(value)
        else:
            usable = True
        if not usable:
            raise InputError(f"{owner}: {self.name} is {value!r}; expected {self.range}.")
        return value

    def _holds(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            return False
        if isinstance(self.default, int) and not isinstance(value, int):
            return False
        return (
            (self.above is None or value > self.above)
            and (self.at_least is None or value >= self.at_least)
            and (self.at_most is None or value <= self.at_most)
        )

    def read(self, text: str, owner: str) -> Any:
        """Turn command-line text into a checked value of the default's kind."""
        word = text.strip()
        try:
            value = self._parse(word)
        except (KeyError, ValueError):
            raise InputError(f"{owner}: {self.name} is {text!r}; expected {self.range}.") from None
        return self.check(value, owner)

    def _parse(self, word: str) -> Any:
        if self.optional and word.lower() == "none":
            return None
        if isinstance(self.default, bool):
            return _WORDS[word.lower()]
        if isinstance(self.default, int):
            return int(word)
        if isinstance(self.default, float):
            return float(word)
        return word


def parameter(default: Any, help: str, **facts: Any) -> Any:  # noqa: A002
    """Declare one dataclass field as a documented parameter; *facts* are those of :class:`Parameter`."""
    return dataclasses.field(default=default, metadata={_KEY: {"help": help, **facts}})


def parameters_of(cls: type) -> dict[str, Parameter]:
    """Return the parameters of a class, by name: declared ones, else those of its signature."""
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    declared = {field.name: field.metadata.get(_KEY, {}) for field in fields}
    found = {}
    for name, argument in inspect.signature(cls).parameters.items():
        if argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
            continue
        default = None if argument.default is argument.empty else argument.default
        found[name] = Parameter(name, default, **declared.get(name, {}))
    return found


def build(cls: type, texts: Mapping[str, str], owner: str) -> Any:
    """Make an instance of *cls* from command-line text, or say which parameter is wrong."""
    known = parameters_of(cls)
    values = {}
    for name, text in texts.items():
        if name not in known:
            expected = ", ".join(known) or "no parameters"
            raise InputError(f"{owner} has no parameter {name!r}; expected {expected}.")
        values[name] = known[name].read(text, owner)
    return cls(**values)


def check_all(instance: Any, owner: str) -> None:
    """Check every declared parameter of a dataclass instance; call it from ``__post_init__``."""
    for name, declared in parameters_of(type(instance)).items():
        declared.check(getattr(instance, name), owner)


def values_of(instance: Any) -> dict[str, Any]:
    """Return the parameters of an instance as plain values, for the result's ``parameters``."""
    values = {name: getattr(instance, name, None) for name in parameters_of(type(instance))}
    return {name: value if _plain(value) else str(value) for name, value in values.items()}


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _noun(default: Any) -> str:
    if isinstance(default, bool):
        return "true or false"
    if isinstance(default, int):
        return "a whole number"
    return "a number" if isinstance(default, float) else "a text"
