"""Condition under which a parameter has an effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psm_sim.common.errors import InputError

_OFF = ("none", "false", "0", "0.0")


@dataclass(frozen=True)
class Condition:
    """Values of other parameters, of which at least one is required.

    Attributes
    ----------
    alternatives : tuple of (str, str)
        Pairs (name, value). An empty value stands for any but 0, false and none.
    """

    alternatives: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Parse ``NAME``, ``NAME=VALUE``, or several of them joined by ``" or "``."""
        pairs = (alternative.partition("=") for alternative in text.split(" or "))
        return cls(tuple((name, value) for name, _, value in pairs))

    def within(self, section: str) -> Condition:
        """Return the condition with *section* before the names that have none."""
        return Condition(
            tuple((name if "." in name else f"{section}.{name}", value) for name, value in self.alternatives)
        )

    def is_met(self, values: Mapping[str, Any]) -> bool:
        """Return whether one of the alternatives is true for *values*, by name."""
        for name, expected in self.alternatives:
            text = str(values[name]).lower()
            if text == expected if expected else text not in _OFF:
                return True
        return False

    def error(self, owner: str, name: str) -> InputError:
        """Return the error for the parameter *name* of *owner*, given although the condition is not met."""
        return InputError(f"{owner}: {name} has no effect without {self}; add it or remove {name}.")

    def __str__(self) -> str:
        return " or ".join(f"{name}={value}" if value else name for name, value in self.alternatives)
