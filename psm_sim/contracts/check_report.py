"""Report of contract checks, as text and as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


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
