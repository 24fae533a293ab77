"""Outcome of a task, and the row of a store that it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """Outcome of a task: its measures by name, or the sentence that says why there are none."""

    key: str
    measures: Mapping[str, Any] | None = None
    error: str | None = None
    wall_s: float = 0.0


@dataclass(frozen=True)
class StoredRow:
    """Row of a store; ``state`` is ``"waiting"``, ``"done"`` or ``"failed"``, ``wall_s`` is in seconds."""

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
