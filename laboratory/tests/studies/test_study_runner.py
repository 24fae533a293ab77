"""Several studies in one run: findings are those of each study alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from psm_lab.studies import STUDIES, load_study
from psm_lab.studies.study import Findings, Scale, Table
from psm_lab.studies.study_runner import reproduce
from psm_lab.studies.tasks import Rows, Task

COMMITTED = Path(__file__).resolve().parents[3] / "reports" / "reproduction" / "quick.json"
TINY = Scale(replications=2, pages=4, long_pages=5)


RUNS: list[str] = []


def record_call(name: str) -> list[dict[str, str]]:
    """Record the call, and return a row with the name."""
    RUNS.append(name)
    return [{"name": name}]


class Names:
    """A study whose table is the names of its rows, which carry its own label; it spoils them."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def tasks(self, scale: Scale, seed: int) -> list[Task]:
        """Return one task per name, the later ones heavier."""
        labels = {"study": "+".join(self.names)}
        return [Task("name", record_call, {"name": name}, i + 1, labels) for i, name in enumerate(self.names)]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return the names in the rows."""
        assert {row.pop("study") for row in rows.of("name")} == {"+".join(self.names)}
        frame = pd.DataFrame([{"name": row.pop("name")} for row in rows.of("name")])
        return Findings("names", "Names", "none", tables=[Table("names", frame)])


def test_each_study_gets_the_rows_of_its_own_tasks_in_its_own_order() -> None:
    """The heaviest task of a study runs first, and common tasks of two studies run once."""
    RUNS.clear()
    reported: list[tuple[int, int]] = []
    studies = {"one": Names("a", "b"), "two": Names("b", "c", "a")}
    findings = reproduce(
        studies, TINY, workers=1, progress=lambda done, total, *_: reported.append((done, total))
    )
    names = [list(finding.tables[0].frame["name"]) for finding in findings]
    assert names == [["a", "b"], ["b", "c", "a"]]
    assert sorted(RUNS) == ["a", "b", "c"]
    assert reported[-1][0] == reported[-1][1]
    assert [done for done, _ in reported] == sorted(done for done, _ in reported)


def test_a_finished_study_does_not_wait_for_the_other_studies() -> None:
    """The findings come before any task of the others, so an interrupt does not lose them."""
    RUNS.clear()
    findings = reproduce({"one": Names("a", "b"), "two": Names("b", "c")}, TINY, workers=1)
    assert list(next(findings).tables[0].frame["name"]) == ["a", "b"]
    assert sorted(RUNS) == ["a", "b"]


@pytest.mark.parametrize("name", STUDIES)
def test_the_quick_study_gives_the_committed_numbers(name: str, require_the_same: Any) -> None:
    """The study runs again; ``reports/reproduction/quick.json`` has the committed numbers."""
    require_the_same(name, load_study(name), json.loads(COMMITTED.read_text(encoding="utf-8")))


def test_the_committed_numbers_have_every_study() -> None:
    """The quick and the full report have each study once, in the order of the report."""
    for path in (COMMITTED, COMMITTED.with_name("numbers.json")):
        assert list(json.loads(path.read_text(encoding="utf-8"))["studies"]) == list(STUDIES)
