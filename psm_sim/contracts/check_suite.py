"""Suite of named contract checks of one kind of component, and the report of their results.

A check is a function of a :class:`Subject` that returns nothing and calls :func:`require` for each condition.
Its docstring is the statement that the report shows.
"""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

from psm_sim.common.errors import InputError, describe_error
from psm_sim.poll import Poll


@dataclass(frozen=True)
class Finding:
    """Result of one contract check.

    Attributes
    ----------
    check : str
        Name of the check.
    promise : str
        Statement that the check verifies.
    fault : str
        Description of the violation; empty if the check passed.
    """

    check: str
    promise: str
    fault: str = ""

    @property
    def ok(self) -> bool:
        """Whether the check passed."""
        return not self.fault

    def __str__(self) -> str:
        return f"{'ok   ' if self.ok else 'FAILS'}  {self.check:<24}  {self.fault or self.promise}"


@dataclass(frozen=True)
class Report:
    """Results of the contract checks of one component, with one line per check as text.

    Attributes
    ----------
    kind : str
        Kind of component, such as ``"policy"`` or ``"query rule"``.
    name : str
        Component as the caller specified it.
    findings : tuple of Finding
        Results, in the order of the checks.
    not_run : int
        Number of checks that were skipped because a check that they require failed.
    """

    kind: str
    name: str
    findings: tuple[Finding, ...]
    not_run: int = 0

    @property
    def ok(self) -> bool:
        """Whether all checks passed."""
        return all(finding.ok for finding in self.findings)

    @property
    def title(self) -> str:
        """Kind and name of the component."""
        return f"{self.kind} {self.name}"

    @property
    def summary(self) -> str:
        """Number of passed checks, as a sentence."""
        passed = sum(finding.ok for finding in self.findings)
        skipped = f"; {self.not_run} more require the last one and were not run" if self.not_run else ""
        return f"{passed} of {len(self.findings)} checks passed{skipped}."

    def __str__(self) -> str:
        return "\n".join([self.title, *map(str, self.findings), self.summary])

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON."""
        return {
            "kind": self.kind,
            "name": self.name,
            "ok": self.ok,
            "not_run": self.not_run,
            "findings": [{**asdict(finding), "ok": finding.ok} for finding in self.findings],
        }


T = TypeVar("T")
SubjectT = TypeVar("SubjectT", bound="Subject[Any]")


class ContractViolation(Exception):  # noqa: N818 (the expected outcome of a check, not a program error)
    """Violation of a contract check; the message names the value found and the expected one."""


def require(holds: object, fault: str) -> None:
    """Raise :class:`ContractViolation` with the message *fault* unless *holds* is true."""
    if not holds:
        raise ContractViolation(fault)


def pickle_round_trip(component: T) -> T:
    """Return a pickled and unpickled copy of *thing*, as in another process."""
    copied: T = pickle.loads(pickle.dumps(component))  # noqa: S301 (trusted: pickled in the same expression)
    return copied


class Subject(Generic[T]):
    """Component under test, of which every check uses a new copy."""

    def __init__(self, component: T) -> None:
        self.component = component

    def fresh(self) -> T:
        """Return an unmodified copy of the component."""
        return copy.deepcopy(self.component)


class Suite(Generic[SubjectT]):
    """Ordered contract checks of one *kind* of component.

    A gate is a check that all later checks require. If it fails, they are not run.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._checks: dict[str, Callable[[SubjectT], None]] = {}
        self._gates: set[str] = set()

    def check(self, function: Callable[[SubjectT], None]) -> Callable[[SubjectT], None]:
        """Add a check (decorator). Its name is the function's, with hyphens."""
        self._checks[_check_name(function)] = function
        return function

    def gate(self, function: Callable[[SubjectT], None]) -> Callable[[SubjectT], None]:
        """Add a check that all later checks require (decorator)."""
        self._gates.add(_check_name(function))
        return self.check(function)

    def names(self) -> list[str]:
        """Return the names of the checks, in order."""
        return list(self._checks)

    def run_one(self, name: str, subject: SubjectT) -> Finding:
        """Run the check *name* on *subject*. An exception becomes the finding's fault."""
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
        """Run the checks on *subject*, which the report calls *label*, until a gate fails."""
        findings: list[Finding] = []
        for name in self._checks:
            findings.append(self.run_one(name, subject))
            if name in self._gates and not findings[-1].ok:
                break
        return Report(self.kind, label, tuple(findings), len(self._checks) - len(findings))


def _check_name(function: Callable[..., None]) -> str:
    return function.__name__.replace("_", "-")


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
