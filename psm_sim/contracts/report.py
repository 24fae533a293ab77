"""Contract checks as functions, and the report of their results.

A check is a function of a component that returns nothing and calls :func:`require` for each condition. The
report shows the name and the docstring of each check.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from psm_sim.common.errors import InputError, describe_error

Check = Callable[[Any], None]


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
        return f"{'ok   ' if self.ok else 'FAILS'}  {self.check:<40}  {self.fault or self.promise}"


@dataclass(frozen=True)
class Report:
    """Results of the contract checks of one component, with one line per check as text.

    Attributes
    ----------
    kind : str
        Kind of component: ``"policy"``, ``"loss"`` or ``"learner"``.
    name : str
        Component as the caller specified it.
    findings : tuple of Finding
        Results, in the order of the checks.
    not_run : int
        Number of checks that were skipped because a required check failed.
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
    def summary(self) -> str:
        """Number of passed checks, as a sentence."""
        passed = sum(finding.ok for finding in self.findings)
        skipped = (
            f"; {self.not_run} more require that the last one passes, and were not run"
            if self.not_run
            else ""
        )
        return f"{passed} of {len(self.findings)} checks passed{skipped}."

    def __str__(self) -> str:
        return "\n".join([f"{self.kind} {self.name}", *map(str, self.findings), self.summary])

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON."""
        return {
            "kind": self.kind,
            "name": self.name,
            "ok": self.ok,
            "not_run": self.not_run,
            "findings": [{**asdict(finding), "ok": finding.ok} for finding in self.findings],
        }


class ContractViolation(Exception):  # noqa: N818 (the expected outcome of a check, not a program error)
    """Violation of a contract check; the message names the actual value and the expected one."""


def require(holds: object, fault: str) -> None:
    """Raise :class:`ContractViolation` with the message *fault* unless *holds* is true."""
    if not holds:
        raise ContractViolation(fault)


def check_name(check: Check) -> str:
    """Return the name of a check: its function's name, with hyphens."""
    return check.__name__.replace("_", "-")


def run_check(check: Check, component: Any) -> Finding:
    """Run a check on a copy of *component*. If it raises an exception, the finding describes it."""
    name, promise = check_name(check), " ".join((inspect.getdoc(check) or "").split())
    try:
        check(copy.deepcopy(component))
    except (ContractViolation, InputError) as error:
        return Finding(name, promise, " ".join(str(error).split()))
    except Exception as error:
        return Finding(name, promise, f"It raised {describe_error(error)}")
    return Finding(name, promise)
