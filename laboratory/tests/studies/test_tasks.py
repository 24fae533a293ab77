"""Tasks: equal work is done once, rows are asked for by kind, each with the labels of its own task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from psm_lab.studies.tasks import OptimumTask, RunTask, run_tasks

from psm_sim.common.component_spec import Spec
from psm_sim.simulation import Scenario, simulate
from psm_sim.simulation.scenario import DigestCache

DONE: list[str] = []


@dataclass(frozen=True)
class Noted:
    """A task of a kind and weight of its own, which notes that it was run."""

    kind: str
    name: str
    weight: int = 1
    labels: Mapping[str, Any] = field(default_factory=dict)

    def key(self, known: DigestCache | None = None) -> str:
        """Return the kind and the name."""
        return f"{self.kind} {self.name}"

    def run(self) -> list[dict[str, Any]]:
        """Return two rows."""
        DONE.append(self.name)
        return [{"name": self.name, "number": number} for number in (1, 2)]


def test_rows_are_asked_for_by_kind() -> None:
    """In the order of the tasks, whatever lies between them."""
    rows = run_tasks([Noted("a", "x"), Noted("b", "y"), Noted("a", "z", weight=5)])
    assert [(row["name"], row["number"]) for row in rows.of("a")] == [("x", 1), ("x", 2), ("z", 1), ("z", 2)]
    assert [row["name"] for row in rows.of("b")] == ["y", "y"]
    assert [len(each) for each in rows] == [2, 2, 2]
    with pytest.raises(KeyError, match="no rows of kind 'c'; expected one of a, b"):
        rows.of("c")


def test_equal_work_is_done_once_and_labelled_for_each_task() -> None:
    """The heaviest first; the labels stand in front and decide nothing."""
    DONE.clear()
    told: list[tuple[int, int, str]] = []
    tasks = [
        Noted("a", "x", 1, {"study": "one"}),
        Noted("a", "y", 3, {"study": "one"}),
        Noted("a", "x", 1, {"study": "two"}),
    ]
    rows = run_tasks(tasks, progress=lambda *given: told.append(given))
    assert DONE == ["y", "x"]
    assert told == [(done, 4, "2 tasks") for done in (0, 3, 4)]
    assert [(row["study"], row["name"]) for row in rows.of("a")[::2]] == [
        ("one", "x"), ("one", "y"), ("two", "x"),
    ]  # fmt: skip
    assert list(rows.of("a")[0]) == ["study", "name", "number"]


def test_a_row_changed_by_one_task_is_not_another_tasks() -> None:
    """Though both stand for the same work."""
    rows = run_tasks([Noted("a", "x"), Noted("a", "x")])
    rows.of("a")[0]["name"] = "spoiled"
    assert [row["name"] for row in rows.of("a")] == ["spoiled", "x", "x", "x"]


def test_a_task_is_known_by_what_decides_its_rows() -> None:
    """Labels do not count, a text and its spec are the same; one policy more is other work."""
    scenario = Scenario(pages=5)
    run = RunTask(("psm", "lpsm"), scenario)
    assert run.key() == RunTask(("psm", "lpsm"), Scenario(pages=5), {"study": "one"}).key()
    assert run.key() == RunTask((Spec.parse("psm", "policy"), "lpsm"), scenario).key()
    best = OptimumTask(scenario, ("psm",), (1.0,), 8)
    others = [
        OptimumTask(scenario, ("psm",), (0.5,), 8),
        OptimumTask(scenario, ("psm",), (1.0,), 0),
        OptimumTask(scenario, ("psm", "bsd"), (1.0,), 8),
        OptimumTask(Scenario(pages=6), ("psm",), (1.0,), 8),
        RunTask(("lpsm", "psm"), scenario),
        RunTask(("psm",), scenario),
    ]
    keys = [each.key() for each in (run, best, *others)]
    assert len(set(keys)) == len(keys)


def test_a_comparison_as_a_task_has_the_numbers_of_a_run() -> None:
    """One row per policy, in their order."""
    task = RunTask(("psm", Spec.parse("bsd:p=0.5", "policy")), Scenario(pages=4, seed=3), {"trace": "ucb"})
    first, second = run_tasks([task]).of("run")
    assert (first["trace"], first["policy"], second["policy"]) == ("ucb", "psm", "bsd:p=0.5")
    alone = simulate("bsd:p=0.5", pages=4, seed=3)
    assert second["energy_j"] == alone.energy_per_page_j
    assert second["slowdown"] == alone.slowdown.mean
