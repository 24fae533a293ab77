"""Comparison of a study's findings with those committed in a report, for the tests of studies."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from psm_lab.reporting.study_numbers import numbers_of
from psm_lab.studies.study import QUICK, Scale, Study
from psm_lab.studies.study_runner import reproduce

TEXTS = ("policy", "quantity", "published", "verdict", "source", "replications")


@pytest.fixture
def require_the_same() -> Callable[..., None]:
    """Return the function that compares a study with its committed numbers."""
    return _require_the_same


def _require_the_same(name: str, study: Study, committed: dict[str, Any], scale: Scale = QUICK) -> None:
    """Run a study again at a *scale*; its numbers must be those *committed*, within 1e-6.

    The tolerance allows other orders of summation, in the linear algebra of another processor.
    """
    seed = committed["seed"]
    findings = list(reproduce({name: study}, scale, seed, workers=1))
    anew = json.loads(json.dumps(numbers_of(findings, seed)["studies"][name]))
    then = committed["studies"][name]
    assert anew["setting"] == then["setting"]
    assert anew["remarks"] == then["remarks"]  # the headline sentences
    for table, before in zip(anew["tables"], then["tables"], strict=True):
        assert (table["title"], table["columns"]) == (before["title"], before["columns"])
        for row, other in zip(table["rows"], before["rows"], strict=True):
            assert [
                pytest.approx(cell, rel=1e-6) if isinstance(cell, float) else cell for cell in other
            ] == row
    for claim, before in zip(anew["claims"], then["claims"], strict=True):
        assert {key: claim[key] for key in TEXTS} == {key: before[key] for key in TEXTS}
        for key in ("mean", "half_width", "largest"):
            assert claim[key] == pytest.approx(before[key], rel=1e-6, abs=1e-9)
