"""Summaries at the beginning of long reports."""

from __future__ import annotations

import pandas as pd
from psm_lab.reporting.pages.report_writer import summary_section
from psm_lab.studies.published_claims import Claim, PublishedNumber
from psm_lab.studies.study import Findings, Table

from psm_sim.common.summary_stats import Interval


def claim(study: str, policy: str, verdict: str, preset: str = "", role: str = "") -> Claim:
    """Return a claim with a simulated value of 0.2."""
    number = PublishedNumber(study, policy, "energy_saved", "paper", value=0.1, unit=0.01)
    return Claim(number, Interval(0.2, 0.01, 3), 0.21, verdict, preset, role)


def test_the_counts_of_the_reproduction_are_counts_of_its_claims() -> None:
    claims = [
        claim("bsd-energy", "psm", "agrees", "first", "calibrates"),
        claim("bsd-energy", "bsd:p=1", "agrees", "first", "predicted"),
        claim("bsd-energy", "bsd:p=0.2", "differs", "first", "predicted"),
        claim("bsd-energy", "bsd:p=1", "agrees", "second", "predicted"),
    ]
    text = summary_section([Findings("bsd-energy", "title", "setting", claims=claims)])
    assert text.startswith("## Summary\n\n**Tested.** The simulator is compared with 3 published numbers.")
    assert "0 of 0 fitted numbers and 1 of 2 predictions agree" in text
    assert "first (2 of 3), second (1 of 1)" in text
    assert "* `bsd:p=0.2`, energy" in text
    assert "0.200 ± 0.010 simulated, 0.1 published. The numbers of BSD require" in text


def test_the_summary_counts_the_claims_on_learners_by_role() -> None:
    drift = [claim("drift", "a - b", "differs", role="control")] * 2
    drift.append(claim("drift", "a - c", "open", role="published"))
    studies = [
        Findings("sphere", "title", "setting", claims=[claim("sphere", "DKM", "agrees", role="theorem")]),
        Findings("drift", "title", "setting", claims=drift),
    ]
    text = summary_section(studies)
    assert "4 claims in 2 studies" in text
    assert "* published: 1 open\n* theorems: 1 agree\n* controls: 2 differ\n" in text
    assert "* drift: published open `a - c`; controls differs `a - b` (2). Learners named" in text
    assert "sphere:" not in text


def test_the_summary_has_the_counts_and_ranges_of_the_listening_table() -> None:
    claims = pd.DataFrame({
        "claim": ["1. anticipate at 0.1 W: less energy and less delay than LPSM"] * 2 + ["9. made up"],
        "trace": ["ucb", "modern", "pushes"],
        "result": [
            {"J/page, difference": Interval(-0.1, 0.0, 3), "slowdown, difference": Interval(0.2, 0.1, 3)},
            {"J/page, difference": Interval(0.3, 0.0, 3), "slowdown, difference": Interval(-0.4, 0.1, 3)},
            {"J/h, ratio": Interval(0.5, 0.1, 3)},
        ],
        "verdict": ["agrees", "differs", "open"],
    })  # fmt: skip
    text = summary_section([Findings("listening", "title", "setting", tables=[Table("Claims", claims)])])
    assert "2 claims on 3 traces" in text
    assert "Of 3 verdicts, 1 agree, 1 are open and 1 differ." in text
    assert "| 1 | 0 | 1 | J/page, difference -0.100 to 0.300; slowdown, difference -0.400 to 0.200 |" in text
    assert "| 0 | 1 | 0 | J/h, ratio 0.500 |" in text
    assert "* Claim 1 on modern: No reason is known." in text
    assert "* Claim 9 on pushes: This failure was expected." in text
