"""Contract checks and observations that several kinds of components share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from psm_sim.common.errors import InputError, describe_error
from psm_sim.contracts.check_suite import ContractViolation, Subject, require
from psm_sim.poll import Poll

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


def can_be_copied(subject: Subject[Any]) -> None:
    """It can be copied, because each run uses its own copy."""
    subject.fresh()


def default_parameters(subject: Subject[Any]) -> None:
    """It can be created without arguments."""
    type(subject.component)()


def documented(subject: Subject[Any]) -> None:
    """It has a name, which results show, and a docstring."""
    require(subject.component.name, "Its name must be a non-empty class attribute.")
    require(type(subject.component).__doc__, "Its class must have a docstring.")


def capture_refusal(action: Callable[[], object], description: str) -> str:
    """Return the message of the InputError that *action* raises; *description* is the invalid argument.

    Raises
    ------
    ContractViolation
        If the action succeeds, or raises another exception.
    """
    try:
        action()
    except InputError as error:
        return str(error)
    except Exception as error:
        raise ContractViolation(
            f"{description} raised {describe_error(error)}; expected an InputError."
        ) from error
    raise ContractViolation(f"{description} was accepted; expected an InputError.")
