"""Arrangement of a comparison: the policies asked for, and those beside them, each run once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from psm_sim.policies import Policy
from psm_sim.simulation.beside import Beside, What
from psm_sim.simulation.comparison import Comparison
from psm_sim.simulation.result import Result

Kind = TypeVar("Kind", bound=Comparison)


def everyone(policies: Sequence[What], beside: Beside) -> list[What]:
    """Return *policies*, and behind them those beside them that are not among them."""
    found = [*policies]
    for each in (*beside.baselines, *beside.against):
        if _place_of(each, found) is None:
            found.append(each)
    return found


def sorted_out(found: Kind, policies: Sequence[What], beside: Beside) -> Kind:
    """Return a comparison of :func:`everyone` with each run in its place.

    Parameters
    ----------
    found
        Its ``runs`` are those of everyone.
    policies, beside
        As for :func:`compare_runs`.
    """
    asked = everyone(policies, beside)

    def run_of(what: What) -> Result:
        return found.runs[_place_of(what, asked) or 0]

    return replace(
        found,
        runs=found.runs[: len(policies)],
        baselines=tuple(map(run_of, beside.baselines)),
        reference=next(map(run_of, beside.against), None),
    )


def _place_of(what: What, policies: Sequence[What]) -> int | None:
    for index, each in enumerate(policies):
        # Texts are compared as they are written: reading them twice is not worth it.
        if what is each if isinstance(what, Policy) else str(what) == str(each):
            return index
    return None
