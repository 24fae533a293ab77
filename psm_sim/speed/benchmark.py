"""Benchmarks relative to baseline loops, and comparison with an earlier run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psm_sim.common.errors import InputError
from psm_sim.speed.speed_measures import LOOPS, Measure, speed_measures, time_seconds

SLOWER = 1.1
"""Ratio to the earlier result above which a benchmark counts as slower."""


@dataclass(frozen=True)
class Cost:
    """Result of one benchmark.

    Attributes
    ----------
    name, baseline : str
        See :class:`~psm_sim.speed.speed_measures.Measure`.
    ratio : float
        Time of one unit of work, divided by the time of one iteration of the baseline loop.
    us : float
        Time of one unit of work on this machine, in microseconds.
    before : float or None
        Ratio of an earlier run, if there is one.
    """

    name: str
    baseline: str
    ratio: float
    us: float
    before: float | None = None

    @property
    def is_slower(self) -> bool:
        """Whether the ratio exceeds :data:`SLOWER` times that of the earlier run."""
        return self.before is not None and self.ratio > SLOWER * self.before


def run_benchmarks(repeats: int, before: Mapping[str, float]) -> list[Cost]:
    """Run all benchmarks and return the best of *repeats*, with the ratios *before* by name."""
    return [_run_benchmark(measure, repeats, before.get(measure.name)) for measure in speed_measures()]


def _run_benchmark(measure: Measure, repeats: int, before: float | None) -> Cost:
    """Time the loop and the work alternately, so that a busy period of the machine affects both."""
    loop, units, _ = LOOPS[measure.baseline]
    times_s = [
        (time_seconds(loop) / units, time_seconds(measure.prepare()) / measure.units) for _ in range(repeats)
    ]
    loop_s, work_s = (min(column) for column in zip(*times_s, strict=True))
    return Cost(measure.name, measure.baseline, work_s / loop_s, 1e6 * work_s, before)


def to_dict(costs: list[Cost]) -> dict[str, Any]:
    """Return the costs in the structure of the JSON output."""
    rows = {
        cost.name: {"ratio": cost.ratio, "baseline": cost.baseline, "us": cost.us, "slower": cost.is_slower}
        for cost in costs
    }
    return {"loops": {name: unit for name, (_, _, unit) in LOOPS.items()}, "costs": rows}


def read_benchmarks(path: Path) -> dict[str, float]:
    """Return the ratios in the JSON file of an earlier bench, by name.

    Raises
    ------
    InputError
        If the file cannot be read, or has no benchmark results.
    """
    import json

    from psm_sim.common.files.reopenable_input import read_text

    try:
        costs = json.loads(read_text(path, 1 << 20))["costs"]
        return {str(name): float(row["ratio"]) for name, row in costs.items()}
    except OSError as error:
        raise InputError(
            f"--against {str(path)!r} cannot be read: {error.strerror}; choose another file."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(
            f"--against {str(path)!r} has no costs; expected a file of psm_sim bench --format json."
        ) from None
