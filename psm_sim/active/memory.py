"""State of a learner or rule as a plain dictionary, fit for JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from psm_sim.errors import InputError
from psm_sim.parameters import values_of


class Remembers:
    """Base of whatever can be saved: :attr:`memory` names the attributes that change while it runs.

    An attribute can be an array, a number, None, a generator or another object that remembers.
    """

    name: ClassVar[str] = ""
    memory: ClassVar[tuple[str, ...]] = ()

    def state(self) -> dict[str, Any]:
        """Return name, parameters and memory as numbers, texts and lists, for :meth:`load_state`."""
        kept = {key: _plain(getattr(self, key)) for key in self.memory}
        return {"name": self.name, "parameters": values_of(self), **kept}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a *state* that :meth:`state` of an equal object returned.

        Raises
        ------
        InputError
            If the state is of another kind, has other parameters, or is damaged; nothing changes then.
        """
        for key, wanted in (("name", self.name), ("parameters", values_of(self))):
            if not isinstance(state, Mapping) or state.get(key) != wanted:
                found = state.get(key) if isinstance(state, Mapping) else state
                raise InputError(f"{self.name}: the saved state has {key} {found!r}; expected {wanted!r}.")
        fresh = {key: self._read(key, getattr(self, key), state) for key in self.memory}
        for key, value in fresh.items():
            _restore(self, key, value)

    def _read(self, key: str, own: Any, state: Mapping[str, Any]) -> Any:
        """Return the value of *key* as the attribute's kind, or say that it cannot be used."""
        try:
            return _like(own, state[key])
        except (KeyError, TypeError, ValueError) as fault:
            what = f"{self.name}: {key} of the saved state cannot be used ({type(fault).__name__}: {fault})"
            raise InputError(f"{what}; expected what state() returned.") from None


def _plain(value: Any) -> Any:
    if isinstance(value, Remembers):
        return value.state()
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    return value.tolist() if isinstance(value, np.ndarray) else value


def _like(own: Any, value: Any) -> Any:
    """Return *value* checked against *own*: the same shape and kind, and finite."""
    if isinstance(own, np.ndarray):
        found = np.array(value, dtype=np.float64)
        if found.shape != own.shape or not np.isfinite(found).all():
            raise ValueError(f"expected {own.shape} finite numbers")
        return found
    if isinstance(own, (Remembers, np.random.Generator)):
        if not isinstance(value, Mapping):
            raise ValueError("expected a dictionary")
        return value
    if isinstance(value, bool) != isinstance(own, bool) or not np.isfinite(value):
        raise ValueError(f"expected a finite {type(own).__name__}")
    return type(own)(value)


def _restore(owner: Remembers, key: str, value: Any) -> None:
    own = getattr(owner, key)
    if isinstance(own, Remembers):
        own.load_state(value)
    elif isinstance(own, np.random.Generator):
        own.bit_generator.state = value
    else:
        setattr(owner, key, value)
