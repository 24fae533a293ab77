"""Contract checks that policies, losses and learners have in common."""

from __future__ import annotations

import pickle
from copy import deepcopy
from functools import singledispatch
from typing import Any, TypeVar

from psm_sim.contracts.report import require
from psm_sim.poll import Poll

T = TypeVar("T")

POLLS = (
    None,
    Poll(100.0),
    Poll(63.0, 40, 1, ((10.0, 40),)),
    Poll(1200.0, 3000, 2, ((1.0, 1500), (2.0, 1500))),
)
"""Typical observations of a station."""
ODD_POLLS = (
    Poll(1e-6, 1500, 1, ((0.0, 1500),)),
    Poll(1e8, 256 * 1500, 256, tuple((3e5 * number, 1500) for number in range(256))),
    Poll(100.0, 10**7),
)
"""Unusual observations: a doze of a nanosecond, a day with a full buffer, and bytes without arrival times."""


@singledispatch
def behavior(component: Any) -> list[Any]:
    """Call *component* in a fixed sequence, which may change it, and return its results."""
    raise TypeError(component)


def pickle_round_trip(component: T) -> T:
    """Return a pickled and unpickled copy of *component*, as in another process."""
    copied: T = pickle.loads(pickle.dumps(component))  # noqa: S301 (trusted: pickled in the same expression)
    return copied


def require_equal(actual: list[Any], expected: list[Any], situation: str) -> None:
    """Require that two results of :func:`behavior` are equal; *situation* is the start of the error."""
    for value, expected_value in zip(actual, expected, strict=True):
        require(value == expected_value, f"{situation} returns {value}; expected {expected_value}.")


def can_be_copied(component: Any) -> None:
    """It can be copied, because each run uses its own copy."""
    deepcopy(component)


def behaves_the_same_when_copied(component: Any) -> None:
    """Deep copies and pickled copies return the same as the original, and do not change it."""
    copied, another = deepcopy(component), deepcopy(component)
    actual, expected = behavior(copied), behavior(component)
    require_equal(actual, expected, "A deep copy")
    require_equal(behavior(pickle_round_trip(another)), expected, "A pickled copy")


def has_a_name_and_a_docstring(component: Any) -> None:
    """It has a name, which results show, and a docstring."""
    require(component.name, "Its name must be a non-empty class attribute.")
    require(type(component).__doc__, "Its class must have a docstring.")


def is_created_without_arguments(component: Any) -> None:
    """It can be created without arguments."""
    type(component)()


def starts_each_run_anew(component: Any) -> None:
    """After start() it behaves like a new instance, so that no run depends on an earlier one."""
    new = deepcopy(component)
    behavior(component)
    require_equal(behavior(component), behavior(new), "After start() it")
