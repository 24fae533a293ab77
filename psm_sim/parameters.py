"""Parameters: declared once with default, unit, range and a sentence, then read from text and checked.

A component is a dataclass whose fields are made with :func:`parameter`; a user's plug-in can be any
class, then names and defaults come from its signature.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from numbers import Integral, Real
from typing import Any

from psm_sim.errors import InputError, PluginError, describe_error, did_you_mean
from psm_sim.parameter_values import Parameter
from psm_sim.user_code import calling

_KEY = "psm_sim"
_REQUIRED = inspect.Parameter.empty


def parameter(default: Any, help: str, **facts: Any) -> Any:  # noqa: A002
    """Declare one dataclass field as a documented parameter.

    Parameters
    ----------
    default
        The value where none is given.
    help
        A sentence for lists and options.
    facts
        Those of :class:`~psm_sim.parameter_values.Parameter`: unit, range, and ``name`` where it is not the field's.
    """
    return dataclasses.field(default=default, metadata={_KEY: {"help": help, **facts}})


def parameters_of(cls: type) -> dict[str, Parameter]:
    """Return the parameters of a class, by name: the arguments of its constructor."""
    return dict(_parameters_of(cls))


@cache  # A topology asks for them at each of its keys: reading one took 20 times as long without.
def _parameters_of(cls: type) -> dict[str, Parameter]:
    declared = _declared(cls)
    found = [
        dataclasses.replace(
            declared.get(argument, Parameter(argument, None, attribute=argument)),
            default=None if default is _REQUIRED else default,
        )
        for argument, default in _arguments(cls).items()
    ]
    return {each.name: each for each in found}


def _declared(cls: type) -> dict[str, Parameter]:
    """Return what :func:`parameter` declared, by attribute; also of a dataclass that *cls* derives from."""
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    return {
        field.name: Parameter(
            **{"name": field.name, "default": field.default, "attribute": field.name, **field.metadata[_KEY]}
        )
        for field in fields
        if _KEY in field.metadata
    }


def _arguments(cls: type) -> dict[str, Any]:
    """Return the defaults of the constructor's named arguments, ``_REQUIRED`` where there is none."""
    try:
        arguments = inspect.signature(cls).parameters.values()
    except Exception as error:
        told = f"{cls.__name__}: the arguments of its constructor cannot be read ({describe_error(error)})"
        raise PluginError(f"{told}; mend the class.") from error
    unnamed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {argument.name: argument.default for argument in arguments if argument.kind not in unnamed}


def build(cls: type, texts: Mapping[str, str], owner: str, /, **given: Any) -> Any:
    """Make an instance of *cls* from command-line text and values *given*, or say what is wrong.

    Parameters
    ----------
    cls
        A class whose constructor's arguments are its parameters.
    texts
        Values as text, by parameter.
    owner
        What the errors call it, such as ``"policy bsd"``.
    given
        Values that the program gives; a text cannot set them.

    Raises
    ------
    InputError
        If a parameter is unknown, missing or out of its range, or the class itself refuses the values.
    """
    known = parameters_of(cls)
    _check_names(texts, [name for name in known if name not in given], owner)
    _check_names(given, known, owner)
    values = {name: known[name].read(text, owner) for name, text in texts.items()}
    values |= {name: known[name].check(value, owner) for name, value in given.items()}
    for argument, default in _arguments(cls).items():
        if default is _REQUIRED and argument not in values:
            raise InputError(
                f"{owner}: {argument} is missing; expected {argument}=value, since it has no default."
            )
    with calling(f"{owner} cannot be made", "expected other values", values):
        made = cls(**{known[name].attribute: value for name, value in values.items()})
    return _remembering(made, {known[name].attribute: value for name, value in values.items()})


def _remembering(made: Any, given: Mapping[str, Any]) -> Any:
    """Return *made*, which notes those of the values given that it does not store itself."""
    lost = {name: value for name, value in given.items() if not hasattr(made, name)}
    with suppress(AttributeError):  # an object with slots notes nothing
        if lost:
            made._psm_sim_given = lost
    return made


def _check_names(names: Iterable[str], known: Iterable[str], owner: str) -> None:
    for name in names:
        if name not in known:
            expected = f"expected {', '.join(known) or 'no parameters'}.{did_you_mean(name, known)}"
            raise InputError(f"{owner} has no parameter {name!r}; {expected}")


def check_all(instance: Any, owner: str) -> None:
    """Check every declared parameter of a dataclass instance; call it from ``__post_init__``."""
    for attribute, declared in _declared(type(instance)).items():
        declared.check(getattr(instance, attribute), owner)


def values_of(instance: Any) -> dict[str, Any]:
    """Return the parameters of an instance as plain values, for the result's ``parameters``."""
    known = parameters_of(type(instance))
    given: Mapping[str, Any] = getattr(instance, "_psm_sim_given", {})
    found = {name: each.attribute for name, each in known.items()}
    return {name: _plain(getattr(instance, own, given.get(own))) for name, own in found.items()}


def _plain(value: Any) -> Any:
    """Return *value* as JSON knows it: a number, truth value, text or None; anything else as text."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else str(value)
