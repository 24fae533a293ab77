"""Declared parameters of components, and construction of components from text.

A built-in component is a dataclass whose fields are declared with :func:`parameter`. A plug-in may be any
class; the names and defaults of its parameters are taken from the signature of its constructor.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from numbers import Integral, Real
from typing import Any

from psm_sim.common.errors import InputError, PluginError, describe_error, did_you_mean
from psm_sim.common.parameter_values import Parameter
from psm_sim.common.user_code_guards import user_code_call

_KEY = "psm_sim"
_REQUIRED = inspect.Parameter.empty


def parameter(default: Any, help: str, **fields: Any) -> Any:  # noqa: A002
    """Declare a dataclass field as a documented parameter.

    Parameters
    ----------
    default : object
        Default value.
    help : str
        Description for listings and help texts.
    **fields
        Further fields of :class:`~psm_sim.common.parameter_values.Parameter`: unit, range, and ``name`` if it
        differs from the name of the field.
    """
    return dataclasses.field(default=default, metadata={_KEY: {"help": help, **fields}})


def parameters_of(cls: type) -> dict[str, Parameter]:
    """Return the parameters of a class by name: the arguments of its constructor."""
    return dict(_parameters_of(cls))


@cache  # Called for each key of a topology; reading one takes 20 times as long without the cache.
def _parameters_of(cls: type) -> dict[str, Parameter]:
    declared = _declared(cls)
    parameters = [
        dataclasses.replace(
            declared.get(argument, Parameter(argument, None, attribute=argument)),
            default=None if default is _REQUIRED else default,
        )
        for argument, default in _arguments(cls).items()
    ]
    return {each.name: each for each in parameters}


def _declared(cls: type) -> dict[str, Parameter]:
    """Return the fields declared with :func:`parameter`, also in base dataclasses, by attribute."""
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    return {
        field.name: Parameter(
            **{"name": field.name, "default": field.default, "attribute": field.name, **field.metadata[_KEY]}
        )
        for field in fields
        if _KEY in field.metadata
    }


def _arguments(cls: type) -> dict[str, Any]:
    """Return the defaults of the constructor's named arguments, or ``_REQUIRED`` without default."""
    try:
        arguments = inspect.signature(cls).parameters.values()
    except Exception as error:
        problem = f"{cls.__name__}: the constructor's signature cannot be read ({describe_error(error)})"
        raise PluginError(f"{problem}; fix the class.") from error
    unnamed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {argument.name: argument.default for argument in arguments if argument.kind not in unnamed}


def build(cls: type, texts: Mapping[str, str], owner: str, /, **arguments: Any) -> Any:
    """Create an instance of *cls* from command-line texts and values.

    Parameters
    ----------
    cls : type
        Class whose constructor arguments are its parameters.
    texts : mapping of str to str
        Values as text, by parameter name.
    owner : str
        Name of the component in error messages, such as ``"policy bsd"``.
    **arguments
        Values set by the program; *texts* may not set them.

    Raises
    ------
    InputError
        If a parameter is unknown, missing or out of range, or the constructor rejects the values.
    """
    parameters = parameters_of(cls)
    _check_names(texts, [name for name in parameters if name not in arguments], owner)
    _check_names(arguments, parameters, owner)
    values = {name: parameters[name].read(text, owner) for name, text in texts.items()}
    values |= {name: parameters[name].check(value, owner) for name, value in arguments.items()}
    for argument, default in _arguments(cls).items():
        if default is _REQUIRED and argument not in values:
            raise InputError(
                f"{owner}: {argument} is missing; specify {argument}=value, since it has no default."
            )
    with user_code_call(f"{owner} cannot be created", "specify other values", values):
        instance = cls(**{parameters[name].attribute: value for name, value in values.items()})
    return _store_arguments(instance, {parameters[name].attribute: value for name, value in values.items()})


def _store_arguments(instance: Any, arguments: Mapping[str, Any]) -> Any:
    """Return *instance* with those *arguments* attached that it does not store as attributes."""
    missing = {name: value for name, value in arguments.items() if not hasattr(instance, name)}
    with suppress(AttributeError):  # an object with __slots__ accepts no new attribute
        if missing:
            instance._psm_sim_arguments = missing
    return instance


def _check_names(names: Iterable[str], valid_names: Iterable[str], owner: str) -> None:
    for name in names:
        if name not in valid_names:
            expected = (
                f"expected {', '.join(valid_names) or 'no parameters'}.{did_you_mean(name, valid_names)}"
            )
            raise InputError(f"{owner} has no parameter {name!r}; {expected}")


def check_all(instance: Any, owner: str) -> None:
    """Check every declared parameter of a dataclass instance, as called from ``__post_init__``."""
    for attribute, declared in _declared(type(instance)).items():
        declared.check(getattr(instance, attribute), owner)


def values_of(instance: Any) -> dict[str, Any]:
    """Return the parameters of an instance as plain values, as stored in results."""
    parameters = parameters_of(type(instance))
    stored: Mapping[str, Any] = getattr(instance, "_psm_sim_arguments", {})
    attributes = {name: each.attribute for name, each in parameters.items()}
    return {name: _plain(getattr(instance, key, stored.get(key))) for name, key in attributes.items()}


def _plain(value: Any) -> Any:
    """Return *value* as a JSON value: a number, boolean, string or None; anything else as a string."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else str(value)
