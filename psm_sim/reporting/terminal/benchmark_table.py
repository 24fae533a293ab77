"""Terminal table of benchmark results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from psm_sim.speed.benchmark import Cost


def write(costs: Sequence[Cost], stream: TextIO) -> None:
    """Write one line per measure: its cost in baseline loops now and before, and in microseconds."""
    width = max(len(cost.name) for cost in costs)
    stream.write(f"{'':{width}}  {'cost':>8} {'unit':10}{'before':>8}{'time, us':>12}\n")
    for cost in costs:
        before = "" if cost.before is None else f"{cost.before:.4g}"
        slower = "  slower" if cost.is_slower else ""
        cells = f"{cost.ratio:8.4g} {cost.baseline + 's':10}{before:>8}{cost.us:12,.1f}"
        stream.write(f"{cost.name:{width}}  {cells}{slower}\n")
