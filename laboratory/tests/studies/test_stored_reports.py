"""Stored reports compared with the present code; one that differs is stale, and its command renews it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from psm_lab.benchmark_report import stored_result
from psm_lab.reporting.study_numbers import to_plain
from psm_lab.studies import load_study
from psm_lab.studies.study import FULL
from psm_lab.studies.tasks import sample_rows

from psm_sim.campaign.benchmark.ranking import policies_of, rank

REPORTS = Path(__file__).resolve().parents[3] / "reports"


def numbers(report: str) -> Any:
    """Return the numbers of a stored report."""
    return json.loads((REPORTS / report / "numbers.json").read_text(encoding="utf-8"))


STUDIES = [
    (report.name, study)
    for report in sorted(REPORTS.iterdir())
    for study, stored in numbers(report.name).get("studies", {}).items()
    if "sample" in stored
]


def test_every_study_stores_a_sample_of_rows() -> None:
    """Without a sample, a stale study would not be noticed."""
    stored = {study for report in REPORTS.iterdir() for study in numbers(report.name).get("studies", {})}
    assert stored == {study for _, study in STUDIES}


@pytest.mark.parametrize(("report", "study"), STUDIES)
def test_rows_of_a_study_that_are_run_again_equal_the_rows_stored_in_its_report(
    report: str, study: str
) -> None:
    """The tolerance is 1e-9. A study without data on this computer has no tasks."""
    stored = numbers(report)
    anew = sample_rows(load_study(study).tasks(FULL, stored["seed"]))
    if not anew:
        pytest.skip("the data set is not installed")
    rows = [{name: to_plain(value) for name, value in row.items()} for row in anew]
    assert rows == [
        {
            name: pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
            for name, value in row.items()
        }
        for row in stored["studies"][study]["sample"]
    ]


def test_the_ranking_of_the_benchmark_report_follows_from_the_stored_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A test of psm_sim repeats some of the results themselves."""
    monkeypatch.chdir(REPORTS.parent)
    stored = stored_result()
    for table, priced in (("priced", True), ("unpriced", False)):
        scores = {each.policy: each.score for each in rank(stored, policies_of(stored, priced))}
        reported = {each["policy"]: each["score"] for each in numbers("benchmark")[table]}
        assert scores == pytest.approx(reported, rel=1e-9)
