"""Speed table: each measure's cost beside its loop, and what became slower."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from psm_sim.speed.benchmark import Cost


def write(costs: Sequence[Cost], stream: TextIO) -> None:
    """Write one line per measure: the ratio to its loop, microseconds here, and the ratio before."""
    width = max(len(cost.name) for cost in costs)
    stream.write(f"{'':{width}}  {'cost':>8} {'of':10}{'before':>8}{'here, us':>12}\n")
    for each in costs:
        before = "" if each.before is None else f"{each.before:.4g}"
        slower = "  slower" if each.is_slower else ""
        cost = f"{each.ratio:8.4g} {each.baseline + 's':10}{before:>8}{each.us:12,.1f}"
        stream.write(f"{each.name:{width}}  {cost}{slower}\n")
