"""Rows of trials as tables and curves: ours beside an independent program's, and paired differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from psm_sim.lab.studies.active.trials import Direction, judge_claim
from psm_sim.lab.studies.published import Claim
from psm_sim.summary_stats import confidence_interval

Reference = Mapping[str, Sequence[float | None]]
"""Numbers of an independent program for each line of a table, one per column."""


def reference_table(
    frame: pd.DataFrame, by: str, columns: Sequence[str], reference: Reference
) -> pd.DataFrame:
    """Return the mean of each column with its 95 % confidence interval, and in brackets the reference.

    Parameters
    ----------
    frame : DataFrame
        One row per run; NaN where a run has no number.
    by : str
        The column that names the lines.
    columns : sequence of str
        What to take means of.
    reference : mapping
        By line; lines and numbers may be missing.
    """
    lines = [
        {
            by: name,
            **{
                column: _cell(group[column].dropna(), theirs)
                for column, theirs in _beside(columns, name, reference)
            },
        }
        for name, group in frame.groupby(by, sort=False)
    ]
    return pd.DataFrame(lines)


def _beside(columns: Sequence[str], name: Any, reference: Reference) -> Iterator[tuple[str, float | None]]:
    return zip(columns, reference.get(name, [None] * len(columns)), strict=True)


def _cell(values: pd.Series[float], theirs: float | None) -> str:
    if values.empty:
        return ""
    return f"{confidence_interval(values):.3f}" + ("" if theirs is None else f" ({theirs:.3f})")


def curves(frame: pd.DataFrame, by: str, columns: Sequence[str], value: str) -> pd.DataFrame:
    """Return ``by, bought, value``: the mean of each column, named ``"20 labels"`` or alike, at its number.

    Parameters
    ----------
    frame : DataFrame
        One row per run.
    by : str
        The column that names the curves.
    columns : sequence of str
        Names that begin with a number.
    value : str
        What the columns hold.
    """
    long = frame.melt([by], list(columns), "bought", value)
    long["bought"] = long["bought"].str.split().str[0].astype(float)
    return long.groupby([by, "bought"], sort=False)[value].mean().reset_index()


def paired_differences(frame: pd.DataFrame, by: str, column: str, names: tuple[str, str]) -> pd.Series[float]:
    """Return the difference of a column between two names, one value per seed.

    Parameters
    ----------
    frame : DataFrame
        One row per name and seed, or more, of which the mean is taken.
    by : str
        The column of the names.
    column : str
        What to take differences of.
    names : tuple of str
        The first, and what is subtracted.
    """
    wide = frame.pivot_table(index="seed", columns=by, values=column)
    found: pd.Series[float] = wide[names[0]] - wide[names[1]]
    return found


def direction(
    study: str, words: tuple[str, str], source: str, values: pd.Series[float], side: int = -1
) -> Claim:
    """Return the claim that differences lie on one side of 0, judged.

    Parameters
    ----------
    study : str
        The study's name.
    words : tuple of str
        What is subtracted from what, and the quantity.
    source : str
        Where it is claimed.
    values : Series
        The differences, one per replication.
    side : int
        -1 for below 0, 1 for above.
    """
    return judge_claim(Direction(study, *words, source, side=side), values)
