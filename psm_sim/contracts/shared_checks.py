"""Checks that components of several kinds have in common, and how a refusal is looked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from psm_sim.contracts.check_suite import ContractViolation, Subject, require
from psm_sim.errors import InputError, describe_error


def can_be_copied(subject: Subject[Any]) -> None:
    """It can be copied: each run, and each check, works on a copy of its own."""
    subject.fresh()


def default_parameters(subject: Subject[Any]) -> None:
    """It can be made without any parameter."""
    type(subject.given)()


def documented(subject: Subject[Any]) -> None:
    """It has a name, by which results call it, and a docstring."""
    require(subject.given.name, "Its name is empty; expected a class attribute name.")
    require(type(subject.given).__doc__, "Its class has no docstring; expected one sentence.")


def capture_refusal(action: Callable[[], object], what: str) -> str:
    """Return the sentence with which *action* refuses *what*; a broken promise if it does not."""
    try:
        action()
    except InputError as error:
        return str(error)
    except Exception as error:
        raise ContractViolation(f"{what} raised {describe_error(error)}; expected an InputError.") from error
    raise ContractViolation(f"{what} was accepted; expected an InputError that says what is wrong.")
