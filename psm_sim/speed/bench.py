"""Bench: all measures, in units of the loops beside them, and which became slower."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psm_sim.errors import InputError
from psm_sim.speed.measures import LOOPS, Measure, measures, seconds

SLOWER = 1.1
"""A measure that costs more than this many times what it did has become slower."""


@dataclass(frozen=True)
class Cost:
    """Cost of one unit of a measure.

    Attributes
    ----------
    name, beside : str
        As in :class:`~psm_sim.speed.measures.Measure`.
    ratio : float
        The time of a unit, over that of a unit of the loop beside it.
    us : float
        The time itself, in microseconds, on the machine at hand.
    before : float or None
        The ratio measured before, if it is known.
    """

    name: str
    beside: str
    ratio: float
    us: float
    before: float | None = None

    @property
    def is_slower(self) -> bool:
        """Whether it costs more than :data:`SLOWER` times what it did."""
        return self.before is not None and self.ratio > SLOWER * self.before


def bench(repeats: int, before: Mapping[str, float]) -> list[Cost]:
    """Measure everything, the best of some *repeats*, beside the ratios measured *before*, by name."""
    return [_cost(each, repeats, before.get(each.name)) for each in measures()]


def _cost(measure: Measure, repeats: int, before: float | None) -> Cost:
    """Take the loop and the work in turn, so that a machine that is busy for a while slows down both."""
    loop, units, _ = LOOPS[measure.beside]
    times_s = [(seconds(loop) / units, seconds(measure.prepare()) / measure.units) for _ in range(repeats)]
    loop_s, work_s = (min(column) for column in zip(*times_s, strict=True))
    return Cost(measure.name, measure.beside, work_s / loop_s, 1e6 * work_s, before)


def to_dict(costs: list[Cost]) -> dict[str, Any]:
    """Return the costs as the JSON output has them."""
    rows = {
        cost.name: {"ratio": cost.ratio, "beside": cost.beside, "us": cost.us, "slower": cost.is_slower}
        for cost in costs
    }
    return {"loops": {name: what for name, (_, _, what) in LOOPS.items()}, "costs": rows}


def read(path: Path) -> dict[str, float]:
    """Return the ratio of each measure in a file that an earlier bench wrote.

    Raises
    ------
    InputError
        If the file cannot be read, or is no such file.
    """
    import json

    from psm_sim.files.reading import read_text

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
