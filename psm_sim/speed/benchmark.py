"""Benchmarks in units of their baseline loops, compared with an earlier run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psm_sim.errors import InputError
from psm_sim.speed.speed_measures import LOOPS, Measure, speed_measures, time_seconds

SLOWER = 1.1
"""A measure that costs more than this many times what it did has become slower."""


@dataclass(frozen=True)
class Cost:
    """Cost of one unit of a measure.

    Attributes
    ----------
    name, baseline : str
        As in :class:`~psm_sim.speed.speed_measures.Measure`.
    ratio : float
        Time of a unit divided by the time of a unit of its baseline loop.
    us : float
        The time itself, in microseconds, on the machine at hand.
    before : float or None
        The ratio measured before, if it is known.
    """

    name: str
    baseline: str
    ratio: float
    us: float
    before: float | None = None

    @property
    def is_slower(self) -> bool:
        """Whether it costs more than :data:`SLOWER` times what it did."""
        return self.before is not None and self.ratio > SLOWER * self.before


def run_benchmarks(repeats: int, before: Mapping[str, float]) -> list[Cost]:
    """Run all benchmarks, the best of *repeats*, and compare with the ratios *before*, by name."""
    return [_cost(each, repeats, before.get(each.name)) for each in speed_measures()]


def _cost(measure: Measure, repeats: int, before: float | None) -> Cost:
    """Take the loop and the work in turn, so that a machine that is busy for a while slows down both."""
    loop, units, _ = LOOPS[measure.baseline]
    times_s = [
        (time_seconds(loop) / units, time_seconds(measure.prepare()) / measure.units) for _ in range(repeats)
    ]
    loop_s, work_s = (min(column) for column in zip(*times_s, strict=True))
    return Cost(measure.name, measure.baseline, work_s / loop_s, 1e6 * work_s, before)


def to_dict(costs: list[Cost]) -> dict[str, Any]:
    """Return the costs as the JSON output has them."""
    rows = {
        cost.name: {"ratio": cost.ratio, "baseline": cost.baseline, "us": cost.us, "slower": cost.is_slower}
        for cost in costs
    }
    return {"loops": {name: what for name, (_, _, what) in LOOPS.items()}, "costs": rows}


def read_benchmarks(path: Path) -> dict[str, float]:
    """Return the ratio of each measure in a file that an earlier bench wrote.

    Raises
    ------
    InputError
        If the file cannot be read, or is no such file.
    """
    import json

    from psm_sim.files.reopenable_input import read_text

    try:
        costs = json.loads(read_text(path, 1 << 20))["costs"]
        return {str(name): float(row["ratio"]) for name, row in costs.items()}
    except OSError as error:
        raise InputError(
            f"--against {str(path)!r} cannot be read: {error.strerror}; give another file."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(
            f"--against {str(path)!r} has no costs; expected what psm_sim bench --format json wrote."
        ) from None
