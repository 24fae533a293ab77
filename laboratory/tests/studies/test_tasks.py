"""Tasks of studies: equal work is done once, and rows have the labels of their task."""

from __future__ import annotations

from typing import Any

from psm_lab.studies.tasks import Task, comparison_task, optimum_task, run_groups

from psm_sim.common.component_spec import Spec
from psm_sim.simulation import Scenario, simulate

DONE: list[str] = []


def record_call(name: str) -> list[dict[str, Any]]:
    """Record the call, and return two rows."""
    DONE.append(name)
    return [{"name": name, "number": number} for number in (1, 2)]


def task(kind: str, name: str, weight: int = 1, **labels: Any) -> Task:
    """Return a task of a kind and weight that records its run."""
    return Task(kind, record_call, {"name": name}, weight, labels)


def test_equal_work_is_done_once_and_the_result_is_labelled_for_each_task() -> None:
    """The heaviest work is first. Labels precede the values and do not distinguish work."""
    DONE.clear()
    reported: list[tuple[int, int, str]] = []
    tasks = [task("a", "x", 1, study="one"), task("a", "y", 3, study="one"), task("a", "x", 1, study="two")]
    (rows,) = run_groups([tasks], progress=lambda *arguments: reported.append(arguments))
    assert DONE == ["y", "x"]
    assert reported == [(done, 4, "2 tasks") for done in (0, 3, 4)]
    assert [(row["study"], row["name"]) for row in rows.of("a")[::2]] == [
        ("one", "x"), ("one", "y"), ("two", "x"),
    ]  # fmt: skip
    assert list(rows.of("a")[0]) == ["study", "name", "number"]


def test_a_change_to_the_rows_of_a_task_does_not_affect_another_task() -> None:
    """Both tasks have the same work and different labels."""
    (rows,) = run_groups([[task("a", "x"), task("a", "x")]])
    rows.of("a")[0]["name"] = "spoiled"
    assert [row["name"] for row in rows.of("a")] == ["spoiled", "x", "x", "x"]


def test_the_key_of_a_task_depends_on_its_work_and_not_on_its_labels() -> None:
    """Policies, their order, settings and the seed distinguish work."""
    scenario = Scenario(pages=5)
    run = comparison_task(("psm", "lpsm"), scenario)
    assert run.key() == comparison_task(("psm", "lpsm"), Scenario(pages=5), {"study": "one"}).key()
    best = optimum_task(scenario, policies=("psm",), bounds=(1.0,), prices=8)
    others = [
        optimum_task(scenario, policies=("psm",), bounds=(0.5,), prices=8),
        optimum_task(scenario, policies=("psm",), bounds=(1.0,), prices=4),
        optimum_task(scenario, policies=("psm", "bsd"), bounds=(1.0,), prices=8),
        optimum_task(Scenario(pages=6), policies=("psm",), bounds=(1.0,), prices=8),
        comparison_task(("lpsm", "psm"), scenario),
        comparison_task(("psm",), scenario),
        comparison_task(("psm",), Scenario(pages=5, seed=2)),
        comparison_task(("psm",), Scenario(pages=5, settings={"links.wired.latency_ms": 9})),
    ]
    keys = [task_.key() for task_ in (run, best, *others)]
    assert len(set(keys)) == len(keys)


def test_a_comparison_run_as_a_task_has_the_numbers_of_a_plain_run() -> None:
    """There is one row per policy, in the order of the policies."""
    policies = ("psm", Spec.parse("bsd:p=0.5", "policy"))
    comparison = comparison_task(policies, Scenario(pages=4, seed=3), {"trace": "ucb"})
    (rows,) = run_groups([[comparison]])
    first, second = rows.of("run")
    assert (first["trace"], first["policy"], second["policy"]) == ("ucb", "psm", "bsd:p=0.5")
    alone = simulate("bsd:p=0.5", pages=4, seed=3)
    assert second["energy_j"] == alone.energy_per_page_j
    assert second["slowdown"] == alone.slowdown.mean
