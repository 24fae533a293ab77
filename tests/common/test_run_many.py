"""Execution of many tasks."""

from __future__ import annotations

import pytest

from psm_sim.common.run_many import run_many


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_counts_finished_tasks(workers: int) -> None:
    reported: list[object] = []
    results = run_many(str, [1, 2, 3], workers, lambda *arguments: reported.append(arguments), "seeds")
    assert list(results) == ["1", "2", "3"]
    assert reported == [(done, 3, "", "seeds") for done in range(4)]
