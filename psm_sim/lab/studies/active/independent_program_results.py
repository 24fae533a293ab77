"""Tables and curves that compare trials with an independent program, and paired differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from psm_sim.common.summary_stats import confidence_interval
from psm_sim.lab.studies.active.learner_trials import Direction, judge_claim
from psm_sim.lab.studies.published_claims import Claim

Reference = Mapping[str, Sequence[float | None]]
"""Results of an independent program for each line of a table, one per column."""


def reference_table(
    frame: pd.DataFrame, by: str, columns: Sequence[str], reference: Reference
) -> pd.DataFrame:
    """Return the mean of each column with its 95 % confidence interval and, in parentheses, the reference.

    Parameters
    ----------
    frame : DataFrame
        One row per run, with NaN for missing values.
    by : str
        Column that names the lines.
    columns : sequence of str
        Columns of which the means are taken.
    reference : mapping
        Reference numbers by line. Lines and numbers may be missing.
    """
    lines = [
        {
            by: name,
            **{
                column: _cell(group[column].dropna(), number)
                for column, number in _reference_cells(columns, name, reference)
            },
        }
        for name, group in frame.groupby(by, sort=False)
    ]
    return pd.DataFrame(lines)


def _reference_cells(
    columns: Sequence[str], name: Any, reference: Reference
) -> Iterator[tuple[str, float | None]]:
    return zip(columns, reference.get(name, [None] * len(columns)), strict=True)


def _cell(values: pd.Series[float], reference: float | None) -> str:
    if values.empty:
        return ""
    return f"{confidence_interval(values):.3f}" + ("" if reference is None else f" ({reference:.3f})")


def curves(frame: pd.DataFrame, by: str, columns: Sequence[str], value: str) -> pd.DataFrame:
    """Return the mean of each column at the number in its name, such as ``"20 labels"``.

    The result has the columns *by*, ``bought`` and *value*.

    Parameters
    ----------
    frame : DataFrame
        One row per run.
    by : str
        Column that names the curves.
    columns : sequence of str
        Names of columns, which begin with a number.
    value : str
        Name of the quantity in the columns.
    """
    long = frame.melt([by], list(columns), "bought", value)
    long["bought"] = long["bought"].str.split().str[0].astype(float)
    return long.groupby([by, "bought"], sort=False)[value].mean().reset_index()


def paired_differences(frame: pd.DataFrame, by: str, column: str, names: tuple[str, str]) -> pd.Series[float]:
    """Return the difference of a column between two names, one value per seed.

    Parameters
    ----------
    frame : DataFrame
        One or more rows per name and seed. The mean of several rows is used.
    by : str
        Column of the names.
    column : str
        Column of which differences are taken.
    names : tuple of str
        Minuend and subtrahend.
    """
    wide = frame.pivot_table(index="seed", columns=by, values=column)
    differences: pd.Series[float] = wide[names[0]] - wide[names[1]]
    return differences


def judge_direction(
    study: str, names: tuple[str, str], source: str, values: pd.Series[float], side: int = -1
) -> Claim:
    """Judge the claim that differences lie on one side of 0.

    Parameters
    ----------
    study : str
        Name of the study.
    names : tuple of str
        The compared policies, as ``"A - B"``, and the quantity.
    source : str
        Source of the claim.
    values : Series
        Differences, one per replication.
    side : int
        -1 for below 0, 1 for above 0.
    """
    return judge_claim(Direction(study, *names, source, side=side), values)
