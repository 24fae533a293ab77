"""Suite of contract checks: small functions under the names that users see.

A check takes a :class:`Subject` and returns nothing; it calls :func:`require` for each thing that must
hold. Its docstring is one sentence: the promise that the report shows.
"""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from psm_sim.contracts.check_report import Finding, Report
from psm_sim.errors import InputError, describe_error

T = TypeVar("T")
SubjectT = TypeVar("SubjectT", bound="Subject[Any]")


class ContractViolation(Exception):  # noqa: N818 (not an error of the program: it is what a check is there to find)
    """A check does not hold; the message says what is wrong, the value found, and what is expected."""


def require(holds: object, fault: str) -> None:
    """Raise :class:`ContractViolation` with the sentence *fault* unless *holds*."""
    if not holds:
        raise ContractViolation(fault)


def pickle_round_trip(thing: T) -> T:
    """Return a copy of *thing* that has travelled as bytes, as to another process."""
    twin: T = pickle.loads(pickle.dumps(thing))  # noqa: S301 (bytes of our own)
    return twin


class Subject(Generic[T]):
    """A component under test: every check works on fresh copies of it, so it is left as it was given."""

    def __init__(self, given: T) -> None:
        self.given = given

    def fresh(self) -> T:
        """Return a copy that no check has touched."""
        return copy.deepcopy(self.given)


class Suite(Generic[SubjectT]):
    """The checks of one kind of component, in order; those of the suite *before* come first.

    A gate is a check that all later ones need: if it fails they are not run.
    """

    def __init__(self, kind: str, before: Suite[Any] | None = None) -> None:
        self.kind = kind
        self._checks: dict[str, Callable[[SubjectT], None]] = dict(before._checks) if before else {}
        self._gates: set[str] = set(before._gates) if before else set()

    def check(self, function: Callable[[SubjectT], None]) -> Callable[[SubjectT], None]:
        """Add a check (a decorator); its name is the function's, with hyphens."""
        self._checks[_name(function)] = function
        return function

    def gate(self, function: Callable[[SubjectT], None]) -> Callable[[SubjectT], None]:
        """Add a check that all later ones need (a decorator)."""
        self._gates.add(_name(function))
        return self.check(function)

    def names(self) -> list[str]:
        """Return the names of the checks, in order."""
        return list(self._checks)

    def run_one(self, name: str, subject: SubjectT) -> Finding:
        """Run the check called *name*; whatever *subject* raises in it becomes the finding's fault."""
        check = self._checks[name]
        promise = " ".join((inspect.getdoc(check) or "").split())
        try:
            check(subject)
        except (ContractViolation, InputError) as error:
            return Finding(name, promise, " ".join(str(error).split()))
        except Exception as error:
            return Finding(name, promise, f"It raised {describe_error(error)}")
        return Finding(name, promise)

    def run(self, label: str, subject: SubjectT) -> Report:
        """Run the checks on *subject*, which the report calls *label*, up to a gate that fails."""
        findings: list[Finding] = []
        for name in self._checks:
            findings.append(self.run_one(name, subject))
            if name in self._gates and not findings[-1].ok:
                break
        return Report(self.kind, label, tuple(findings), len(self._checks) - len(findings))


def _name(function: Callable[..., None]) -> str:
    return function.__name__.replace("_", "-")
