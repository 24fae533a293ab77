"""Conversion of the state of a learner or rule to a JSON-compatible dictionary and back."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np

from psm_sim.common.errors import InputError, describe_error
from psm_sim.common.parameters import values_of


class Serializable:
    """Base class of objects with a saved state.

    :attr:`state_attributes` names the attributes that change during a run. Each is an array, a number, a
    random generator or another serializable object. A subclass saves attributes of growing size by
    overriding :meth:`_dump_state` and :meth:`_load_state`.
    """

    name: ClassVar[str] = ""
    state_attributes: ClassVar[tuple[str, ...]] = ()

    def state(self) -> dict[str, Any]:
        """Return name, parameters and state attributes as numbers, strings and lists."""
        return {"name": self.name, "parameters": self._settings(), **self._dump_state()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Continue from a *state* that :meth:`state` of an equal object returned.

        Raises
        ------
        InputError
            If the state belongs to another component, has other parameters, or is damaged. The object is then
            left unchanged.
        """
        for key, expected in (("name", self.name), ("parameters", self._settings())):
            if not isinstance(state, Mapping) or state.get(key) != expected:
                saved = state.get(key) if isinstance(state, Mapping) else state
                raise InputError(
                    f"{self.name}: {key} of the saved state must be {expected!r}, got {saved!r}."
                )
        try:
            attributes = self._load_state(state)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            reason = f"({describe_error(error)})"
            raise InputError(
                f"{self.name}: the saved state is damaged {reason}; pass a result of state()."
            ) from None
        for key, value in attributes.items():
            _restore(self, key, value)

    def _settings(self) -> dict[str, Any]:
        """Return the parameters that must be equal in a saved state."""
        return values_of(self)

    def _dump_state(self) -> dict[str, Any]:
        """Return the attributes that change during a run, as numbers, strings and lists."""
        return {key: to_plain(getattr(self, key)) for key in self.state_attributes}

    def _load_state(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the validated attributes of a saved state, without changing the object.

        A damaged state may raise any of the exceptions that :meth:`load_state` converts to an InputError.
        """
        return {key: check_like(getattr(self, key), state[key], key) for key in self.state_attributes}


def to_plain(value: Any) -> Any:
    """Return *value* as a JSON-compatible number, string, list or dictionary."""
    if isinstance(value, Serializable):
        return value.state()
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    return value.tolist() if isinstance(value, np.ndarray) else value


def check_like(own: Any, value: Any, key: str) -> Any:
    """Return a saved value if it fits its attribute.

    Parameters
    ----------
    own
        Current value of the attribute: an array, a number, a generator or a serializable object.
    value
        Saved value.
    key : str
        Name of the attribute, for the error message.

    Raises
    ------
    InputError or ValueError
        If shape or type differ, a number is not finite, or a nested object rejects its state.
    """
    try:
        return _convert_like(own, value)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{key}: {describe_error(error)}") from None


def _convert_like(own: Any, value: Any) -> Any:
    if isinstance(own, np.ndarray):
        array = np.array(value, dtype=np.float64)
        if array.shape != own.shape or not np.isfinite(array).all():
            raise ValueError(f"expected {own.shape} finite numbers")
        return array
    if isinstance(own, (Serializable, np.random.Generator)):
        if not isinstance(value, Mapping):
            raise ValueError("expected a dictionary")
        _load_part(deepcopy(own), value)  # try it on a copy, so that an error changes nothing
        return value
    if isinstance(value, bool) != isinstance(own, bool) or not np.isfinite(value):
        raise ValueError(f"expected a finite {type(own).__name__}")
    return type(own)(value)


def _restore(owner: Serializable, key: str, value: Any) -> None:
    own = getattr(owner, key)
    if isinstance(own, (Serializable, np.random.Generator)):
        _load_part(own, value)
    else:
        setattr(owner, key, value)


def _load_part(part: Serializable | np.random.Generator, state: Any) -> None:
    if isinstance(part, Serializable):
        part.load_state(state)
    else:
        part.bit_generator.state = state
