"""Declared parameters of components, and construction of components from text.

A built-in component is a dataclass whose fields are declared with :func:`parameter`. The annotation of a
field is the type of its values. A plug-in may be any class; the names and defaults of its parameters are
taken from the signature of its constructor.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from numbers import Integral, Real
from typing import Any

from psm_sim.common.errors import InputError, PluginError, describe_error, did_you_mean, one_of
from psm_sim.common.input_limits import MAX_TIME_S, ascii_number
from psm_sim.common.user_code_guards import user_code_call

_KEY = "psm_sim"
_MAX = sys.float_info.max
_REQUIRED = inspect.Parameter.empty
_BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


_OFF = ("none", "false", "0", "0.0")


@dataclasses.dataclass(frozen=True)
class Condition:
    """Condition that at least one of several parameters has the required value.

    Attributes
    ----------
    alternatives : tuple of (str, str)
        Pairs (name, value). An empty value means any value except 0, false and none.
    """

    alternatives: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Parse ``NAME``, ``NAME=VALUE``, or several of them joined by ``" or "``."""
        pairs = (alternative.partition("=") for alternative in text.split(" or "))
        return cls(tuple((name, value) for name, _, value in pairs))

    def within(self, section: str) -> Condition:
        """Return the condition in which *section* is put before each name that has no section."""
        return Condition(
            tuple((name if "." in name else f"{section}.{name}", value) for name, value in self.alternatives)
        )

    def is_met(self, values: Mapping[str, Any]) -> bool:
        """Return whether one of the alternatives is true for *values*, a mapping of names to values."""
        for name, expected in self.alternatives:
            text = str(values[name]).lower()
            if text == expected if expected else text not in _OFF:
                return True
        return False

    def error(self, owner: str, name: str) -> InputError:
        """Return the error for setting the parameter *name* of *owner* while this condition is not met."""
        return InputError(f"{owner}: {name} has no effect without {self}; add it or remove {name}.")

    def __str__(self) -> str:
        return " or ".join(f"{name}={value}" if value else name for name, value in self.alternatives)


@dataclasses.dataclass(frozen=True)
class Parameter:
    """Declared parameter of a component.

    Attributes
    ----------
    name : str
        Name on the command line and in results.
    default : object
        Default value.
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
        Type of the values; None for the type of the default.
    attribute : str
        Name of the attribute of the component that stores the value.
    expert : bool
        Whether lists show the parameter only on request, because it serves a reproduction, a comparison
        with another simulator, or a test.
    requires : Condition or None
        Condition on other parameters under which this parameter has an effect; None for no condition.
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
    expert: bool = False
    requires: Condition | None = None

    @property
    def _type(self) -> type:
        return self.kind or type(self.default)

    @property
    def range(self) -> str:
        """Expected values as text, such as ``"a number > 0"``."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        bounds = []
        if self.above is not None:
            bounds.append(f"> {_bound(self.above)}")
        if self.at_least is not None:
            bounds.append(f">= {_bound(self.at_least)}")
        if self.at_most is not None:
            bounds.append(f"<= {_bound(self.at_most)}")
        text = f"{_NOUNS.get(self._type, 'a number')} {' and '.join(bounds)}".rstrip()
        return f"{text}, or none" if self.optional else text

    def check(self, value: Any, owner: str) -> Any:
        """Return *value* if it is in the range, else raise an :class:`InputError` that names *owner*."""
        if self._is_valid(value):
            return value
        raise self._error(value, owner)

    def read(self, text: str, owner: str) -> Any:
        """Convert command-line *text* to a value in the range; errors name *owner*."""
        with suppress(KeyError, ValueError):
            value = self._parse(text.strip())
            if self._is_valid(value):
                return value
        raise self._error(text, owner)

    def _error(self, value: Any, owner: str) -> InputError:
        return InputError(f"{owner}: {self.name} must be {self.range}, got {value!r}.")

    def _is_valid(self, value: Any) -> bool:
        if value is None and self.optional:
            return True
        if self.choices:
            return value in self.choices
        if self._type is bool:
            return isinstance(value, bool)
        return self._in_range(value) if self._type in (int, float) else True

    def _in_range(self, value: Any) -> bool:
        expected: Any = Integral if self._type is int else Real
        if isinstance(value, bool) or not isinstance(value, expected):
            return False
        return (
            -_MAX <= value <= _MAX  # false for nan
            and (self.above is None or value > self.above)
            and (self.at_least is None or value >= self.at_least)
            and (self.at_most is None or value <= self.at_most)
        )

    def _parse(self, text: str) -> Any:
        if self.optional and text.lower() == "none":
            return None
        return text if self.choices else _READERS.get(self._type, _guess)(text)


def _guess(text: str) -> Any:
    """Return *text* as an integer, a number or a boolean if it is one, else unchanged."""
    for kind in (int, float, bool):
        with suppress(KeyError, ValueError):
            return _READERS[kind](text)
    return text


_READERS: dict[type, Callable[[str], Any]] = {
    bool: lambda text: _BOOLEANS[text.lower()],
    int: lambda text: int(ascii_number(text)),
    float: lambda text: float(ascii_number(text)),
    str: str,
}
_NOUNS = {bool: "true or false", int: "an integer", str: "a string"}


def _bound(value: float) -> str:
    """Return *value* as short text, without rounding it."""
    text = f"{value:g}"
    return text if float(text) == value else str(value)


def parameter(default: Any, help: str, *, requires: str = "", **fields: Any) -> Any:  # noqa: A002
    """Declare a dataclass field as a documented parameter.

    The annotation of the field is the type of its values: ``float | None`` allows None.

    Parameters
    ----------
    default : object
        Default value.
    help : str
        Description for listings and help texts.
    requires : str
        Condition under which the parameter has an effect, see :meth:`Condition.parse`; empty for none.
    **fields
        Other attributes of :class:`Parameter`, such as ``unit`` and ``at_least``. The default ``name`` is the
        name of the field.
    """
    condition = Condition.parse(requires) if requires else None
    return dataclasses.field(
        default=default, metadata={_KEY: {"help": help, "requires": condition, **fields}}
    )


SECONDS: dict[str, Any] = {"unit": "s", "at_most": MAX_TIME_S}
"""Further fields of a parameter that is a time in seconds, see :func:`parameter`."""


def parameters_of(cls: type) -> dict[str, Parameter]:
    """Return the parameters of a class by name: the arguments of its constructor."""
    return dict(_parameters_of(cls))


@cache  # Called for each key of a topology; without the cache, reading a topology takes 20 times as long.
def _parameters_of(cls: type) -> dict[str, Parameter]:
    declared = _declared(cls)
    parameters = [
        dataclasses.replace(
            declared.get(argument, Parameter(argument, None, attribute=argument)),
            default=None if default is _REQUIRED else default,
        )
        for argument, default in _arguments(cls).items()
    ]
    return {parameter.name: parameter for parameter in parameters}


@cache  # Called for each object; the cache reduces the time of its checks to a third.
def _declared(cls: type) -> dict[str, Parameter]:
    """Return the fields declared with :func:`parameter`, also in base dataclasses, by attribute."""
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    return {field.name: _declaration(field) for field in fields if _KEY in field.metadata}


def _declaration(field: dataclasses.Field[Any]) -> Parameter:
    # The text is read, because typing.get_type_hints() fails for names imported for type checkers only.
    words = re.findall(r"\w+", str(field.type))
    declared = {
        "name": field.name,
        "default": field.default,
        "attribute": field.name,
        "kind": next((kind for word in words for kind in _READERS if kind.__name__ == word), None),
        "optional": "None" in words or "Optional" in words,
    }
    return Parameter(**{**declared, **field.metadata[_KEY]})


def _arguments(cls: type) -> dict[str, Any]:
    """Return the default of each named constructor argument; ``_REQUIRED`` if it has no default."""
    try:
        arguments = inspect.signature(cls).parameters.values()
    except Exception as error:
        problem = f"{cls.__name__}: the constructor's signature cannot be read ({describe_error(error)})"
        raise PluginError(f"{problem}; fix the class.") from error
    unnamed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {argument.name: argument.default for argument in arguments if argument.kind not in unnamed}


def build(
    cls: type,
    texts: Mapping[str, str],
    owner: str,
    defaults: Mapping[str, str] | None = None,
    /,
    **arguments: Any,
) -> Any:
    """Create an instance of *cls* from command-line texts and values.

    Parameters
    ----------
    cls : type
        Class whose constructor arguments are its parameters.
    texts : mapping of str to str
        Values of the user as text, by parameter name.
    owner : str
        Name of the component in error messages, such as ``"policy bsd"``.
    defaults : mapping of str to str or None
        Values from a file, as text. Values in *texts* override them. Unlike *texts*, they may set parameters
        that have no effect.
    **arguments
        Parameters that the program sets, and that *texts* may not contain.

    Raises
    ------
    InputError
        If a parameter is unknown, missing, out of range or without effect, or the constructor rejects the
        values.
    """
    parameters, merged = parameters_of(cls), {**(defaults or {}), **texts}
    check_names(merged, [name for name in parameters if name not in arguments], owner)
    check_names(arguments, parameters, owner)
    values = {name: parameters[name].read(text, owner) for name, text in merged.items()}
    values |= {name: parameters[name].check(value, owner) for name, value in arguments.items()}
    for argument, default in _arguments(cls).items():
        if default is _REQUIRED and argument not in values:
            raise InputError(
                f"{owner}: {argument} is missing; specify {argument}=value, since it has no default."
            )
    with user_code_call(f"{owner} cannot be created", "specify other values", values):
        instance = cls(**{parameters[name].attribute: value for name, value in values.items()})
    for name in texts:
        condition = parameters[name].requires
        if condition and not condition.is_met(values_of(instance)):
            raise condition.error(owner, name)
    return instance


def check_names(names: Iterable[str], valid_names: Iterable[str], owner: str) -> None:
    """Raise an :class:`InputError` for one of *names* that is not in *valid_names*.

    *owner* is the component in error messages.
    """
    valid = list(valid_names)
    for name in names:
        if name not in valid:
            expected = one_of(name, valid) if valid else "no parameters"
            raise InputError(
                f"{owner} has no parameter {name!r}; expected {expected}.{did_you_mean(name, valid)}"
            )


def check_all(instance: Any, owner: str) -> None:
    """Check every declared parameter of a dataclass instance; called in ``__post_init__``."""
    cls: type = type(instance)
    for attribute, declared in _declared(cls).items():
        declared.check(getattr(instance, attribute), owner)


def values_of(instance: Any) -> dict[str, Any]:
    """Return the parameters of an instance as plain values, as stored in results."""
    parameters = parameters_of(type(instance))
    return {name: _plain(getattr(instance, each.attribute, None)) for name, each in parameters.items()}


def _plain(value: Any) -> Any:
    """Return *value* as a JSON value: a number, boolean, string or None; anything else as a string."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else str(value)
