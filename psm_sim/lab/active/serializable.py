"""State of a learner or rule as a plain dictionary, fit for JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np

from psm_sim.errors import InputError, describe_error
from psm_sim.parameters import values_of


class Serializable:
    """Base of whatever can be saved: :attr:`memory` names the attributes that change while it runs.

    An attribute can be an array, a number, a generator or another object that remembers. What grows
    while it runs is saved by a :meth:`_dump_state` and a :meth:`_load_state` of the subclass.
    """

    name: ClassVar[str] = ""
    state_attributes: ClassVar[tuple[str, ...]] = ()

    def state(self) -> dict[str, Any]:
        """Return name, parameters and memory as numbers, texts and lists, for :meth:`load_state`."""
        return {"name": self.name, "parameters": self._settings(), **self._dump_state()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a *state* that :meth:`state` of an equal object returned.

        Raises
        ------
        InputError
            If the state is of another kind, has other parameters, or is damaged; nothing changes then.
        """
        for key, wanted in (("name", self.name), ("parameters", self._settings())):
            if not isinstance(state, Mapping) or state.get(key) != wanted:
                found = state.get(key) if isinstance(state, Mapping) else state
                raise InputError(f"{self.name}: the saved state has {key} {found!r}; expected {wanted!r}.")
        try:
            fresh = self._load_state(state)
        except (AttributeError, KeyError, TypeError, ValueError) as fault:
            what = f"{self.name}: the saved state cannot be used ({describe_error(fault)})"
            raise InputError(f"{what}; expected what state() returned.") from None
        for key, value in fresh.items():
            _restore(self, key, value)

    def _settings(self) -> dict[str, Any]:
        """Return the parameters that a saved state must share."""
        return values_of(self)

    def _dump_state(self) -> dict[str, Any]:
        """Return what changes while it runs, as numbers, texts and lists."""
        return {key: to_plain(getattr(self, key)) for key in self.state_attributes}

    def _load_state(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the attributes that a state holds, checked; changes nothing.

        A fault in the state may raise what Python raises; :meth:`load_state` makes a sentence of it.
        """
        return {key: check_like(getattr(self, key), state[key], key) for key in self.state_attributes}


def to_plain(value: Any) -> Any:
    """Return *value* as JSON knows it: a number, text, list or dictionary."""
    if isinstance(value, Serializable):
        return value.state()
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    return value.tolist() if isinstance(value, np.ndarray) else value


def check_like(own: Any, value: Any, key: str) -> Any:
    """Return a saved value if it fits the attribute it is for.

    Parameters
    ----------
    own
        The attribute as it is: an array, a number, a generator or an object that remembers.
    value
        What was saved of it.
    key : str
        The attribute's name, for the error.

    Raises
    ------
    InputError or ValueError
        If shape or kind differ, a number is not finite, or a part cannot go on from it.
    """
    try:
        return _fitted(own, value)
    except (AttributeError, KeyError, TypeError, ValueError) as fault:
        raise ValueError(f"{key}: {describe_error(fault)}") from None


def _fitted(own: Any, value: Any) -> Any:
    if isinstance(own, np.ndarray):
        found = np.array(value, dtype=np.float64)
        if found.shape != own.shape or not np.isfinite(found).all():
            raise ValueError(f"expected {own.shape} finite numbers")
        return found
    if isinstance(own, (Serializable, np.random.Generator)):
        if not isinstance(value, Mapping):
            raise ValueError("expected a dictionary")
        _go_on(deepcopy(own), value)
        return value
    if isinstance(value, bool) != isinstance(own, bool) or not np.isfinite(value):
        raise ValueError(f"expected a finite {type(own).__name__}")
    return type(own)(value)


def _restore(owner: Serializable, key: str, value: Any) -> None:
    own = getattr(owner, key)
    if isinstance(own, (Serializable, np.random.Generator)):
        _go_on(own, value)
    else:
        setattr(owner, key, value)


def _go_on(part: Serializable | np.random.Generator, state: Any) -> None:
    if isinstance(part, Serializable):
        part.load_state(state)
    else:
        part.bit_generator.state = state
