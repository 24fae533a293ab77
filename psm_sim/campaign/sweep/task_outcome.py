"""Outcome of a task, and row of a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """Measures of a finished task by name, or the error message of a failed task."""

    key: str
    measures: Mapping[str, Any] | None = None
    error: str | None = None
    wall_s: float = 0.0


@dataclass(frozen=True)
class StoredRow:
    """Task in a store.

    ``state`` is ``"waiting"``, ``"done"`` or ``"failed"``, and ``wall_s`` is the duration in seconds.
    """

    policy: str
    trace: str
    topology: str
    pages: int
    seed: int
    parameters: dict[str, Any]
    state: str
    measures: dict[str, Any]
    error: str
    wall_s: float
