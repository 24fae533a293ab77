"""Report of the contract checks: one finding per check, as text and as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Finding:
    """One check and what it found.

    ``check`` is the check's name, ``promise`` the sentence that must hold, ``fault`` the sentence that says
    what does not; it is empty if all is well.
    """

    check: str
    promise: str
    fault: str = ""

    @property
    def ok(self) -> bool:
        """Whether the promise is kept."""
        return not self.fault

    def __str__(self) -> str:
        return f"{'ok   ' if self.ok else 'FAILS'}  {self.check:<24}  {self.fault or self.promise}"


@dataclass(frozen=True)
class Report:
    """The findings about one component, in the order of the checks; prints as one line per check.

    ``kind`` is such as policy or query rule, ``name`` the component as it was asked for, ``not_run`` counts
    the checks that were left out because they need the last one, which failed.
    """

    kind: str
    name: str
    findings: tuple[Finding, ...]
    not_run: int = 0

    @property
    def ok(self) -> bool:
        """Whether every check holds."""
        return all(finding.ok for finding in self.findings)

    @property
    def title(self) -> str:
        """The component, in words."""
        return f"{self.kind} {self.name}"

    @property
    def summary(self) -> str:
        """Number of checks that hold, in one sentence."""
        kept = sum(finding.ok for finding in self.findings)
        left_out = f"; {self.not_run} more need the last one and were not run" if self.not_run else ""
        return f"{kept} of {len(self.findings)} checks hold{left_out}."

    def __str__(self) -> str:
        return "\n".join([self.title, *map(str, self.findings), self.summary])

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        return {
            "kind": self.kind,
            "name": self.name,
            "ok": self.ok,
            "not_run": self.not_run,
            "findings": [{**asdict(finding), "ok": finding.ok} for finding in self.findings],
        }
