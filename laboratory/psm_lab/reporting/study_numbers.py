"""Claims and tables of the studies as plain values, for ``numbers.json``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from psm_sim import __version__

if TYPE_CHECKING:
    import pandas as pd

    from psm_lab.studies.published_claims import Claim
    from psm_lab.studies.study import Findings

_DIGITS = 10  # hides rounding errors, which differ between processors


def numbers_of(
    findings: Sequence[Findings], seed: int, missing: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the claims and tables of each study, by name. Floats have ten significant digits.

    Parameters
    ----------
    findings : sequence of Findings
        One entry per completed study.
    seed : int
        First seed.
    missing : mapping of str to str, optional
        Reason for each study that has no findings, by name.
    """
    return {
        "psm_sim": __version__,
        "seed": seed,
        "tallies": _tallies(findings),
        "presets": {preset.name: preset.history() for study in findings for preset in study.presets},
        "studies": {study.study: _study(study) for study in findings},
        **({"missing": dict(missing)} if missing else {}),
    }


def _tallies(findings: Sequence[Findings]) -> dict[str, dict[str, dict[str, int]]]:
    """Return the number of claims with each verdict, by preset and by role."""
    counts: dict[str, dict[str, Counter[str]]] = {}
    for claim in (claim for study in findings for claim in study.claims):
        counts.setdefault(claim.preset, {}).setdefault(claim.role, Counter())[claim.verdict] += 1
    return {
        preset: {role: dict(verdicts) for role, verdicts in roles.items()} for preset, roles in counts.items()
    }


def _study(findings: Findings) -> dict[str, Any]:
    return {
        "title": findings.title,
        "setting": findings.setting,
        "presets": [preset.name for preset in findings.presets],
        "provisional": findings.provisional,
        "claims": [_claim(claim) for claim in findings.claims],
        "remarks": list(findings.remarks),
        "commentary": list(findings.commentary),
        "tables": [{"title": table.title, **_frame(table.frame)} for table in findings.tables],
        "sample": [{name: to_plain(value) for name, value in row.items()} for row in findings.sample],
    }


def _claim(claim: Claim) -> dict[str, Any]:
    number, ours = claim.published, claim.ours
    return {
        "preset": claim.preset,
        "role": claim.role,
        "policy": number.policy,
        "quantity": number.quantity,
        "published": str(number),
        "mean": to_plain(ours.mean),
        "half_width": to_plain(ours.half_width),
        "replications": ours.replications,
        "largest": to_plain(claim.largest),
        "kept": to_plain(claim.kept),
        "difference": to_plain(number.difference(ours.mean)),
        "verdict": claim.verdict,
        "not_comparable": number.not_comparable,
        "source": number.source,
    }


def _frame(frame: pd.DataFrame) -> dict[str, Any]:
    return {
        "columns": [str(name) for name in frame.columns],
        "rows": [[to_plain(value) for value in row] for row in frame.itertuples(index=False, name=None)],
    }


def to_plain(value: Any) -> Any:
    """Return a cell as a JSON value. NaN becomes None."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float):
        return None if value != value else float(f"{value:.{_DIGITS}g}")
    return value if value is None or isinstance(value, (bool, int)) else str(value)
