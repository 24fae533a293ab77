"""Results of an independent program, and tables, curves and differences that compare trials with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from psm_lab.studies.active.learner_trials import (
    PUBLISHED,
    direction,
    judge_claim,
    resampled_interval,
)
from psm_lab.studies.published_claims import Claim

LABELS_1D = {0.0: (14.2, 17.3, 26.9, 49.6, 97.0), 0.2: (17.4, 21.2, 32.3, 57.2, 107.0)}
"""Labels of ISAL to a width of 1e-4 for each eta, with s = .1, .25, .5, 1 and 2."""

PLANES = {
    "0 % flips: random": (0.193, 0.099, 0.062, 0.041),
    "0 % flips: BI": (0.174, 0.062, 0.030, 0.017),
    "0 % flips: MI": (0.172, 0.067, 0.039, 0.025),
    "0 % flips: ISALg": (0.218, 0.092, 0.052, 0.032),
    "0 % flips: ISALg, weights off": (0.163, 0.067, 0.040, 0.027),
    "0 % flips: ISALg literal": (0.251, 0.164, 0.135, 0.095),
    "0 % flips: IWAL2": (0.186, 0.090, 0.068, 0.044),
    "15 % flips: random": (0.324, 0.230, 0.144, 0.107),
    "15 % flips: BI": (0.308, 0.233, 0.150, 0.063),
    "15 % flips: MI": (0.284, 0.172, 0.113, 0.073),
    "15 % flips: ISALg": (0.319, 0.241, 0.182, 0.142),
    "15 % flips: ISALg, weights off": (0.294, 0.193, 0.121, 0.069),
    "15 % flips: ISALg literal": (0.342, 0.333, 0.272, 0.204),
    "15 % flips: IWAL2": (0.251, 0.204, 0.141, 0.104),
}
"""Errors after 20, 50, 100 and 200 labels, with planes on the simulated neuron."""

POOLS = {
    "neuron: random": (0.292, 0.215, 0.131, 0.092),
    "neuron: mu": (0.269, 0.181, 0.092, 0.071),
    "neuron: isalp": (0.255, 0.176, 0.084, 0.071),
    "neuron: lmu-logreg": (0.282, 0.166, 0.092, 0.074),
    "neuron, 15 % flips: random": (0.368, 0.350, 0.297, 0.265),
    "neuron, 15 % flips: mu": (0.387, 0.362, 0.307, 0.262),
    "neuron, 15 % flips: isalp": (0.404, 0.380, 0.297, 0.244),
    "neuron, 15 % flips: lmu-logreg": (0.386, 0.326, 0.272, 0.221),
    "vehicle: random": (0.321, 0.243, 0.138, 0.092),
    "vehicle: mu": (0.303, 0.212, 0.101, 0.074),
    "vehicle: isalp": (0.320, 0.240, 0.102, 0.073),
    "vehicle: lmu-logreg": (0.307, 0.210, 0.120, 0.088),
}
"""Errors after 10, 20, 50 and 100 labels from a pool."""

TREES = {
    "tic-tac-toe": (0.299, 0.255, 0.301, 0.338, 0.259, 0.319, 0.296, 0.305),
    "votes": (0.088, 0.039, 0.030, 0.030, 0.071, 0.040, 0.053, 0.069),
    "crx": (0.138, 0.152, 0.136, 0.174, 0.249, 0.146, 0.173, 0.159),
    "chess": (0.121, 0.096, 0.332, 0.131, 0.063, 0.131, 0.080, None),
    "breast": (0.260, 0.302, 0.317, 0.317, 0.357, 0.264, 0.256, 0.261),
    "german": (0.252, 0.285, 0.285, 0.306, None, 0.286, 0.273, None),
}
"""Cross-validation errors of NB, 3-ID3, 1- to 3-OPT and 2- to 4-NBDT."""

IMAGES = {
    "lmu": (0.946, 0.943, 0.970, 0.976, 0.981),
    "lmu-rand-start": (0.886, 0.947, 0.958, 0.970, 0.980),
    "lmu-logreg": (0.875, 0.923, 0.964, 0.971, 0.974),
    "random": (0.886, 0.934, 0.947, 0.958, 0.968),
}
"""F-measures after 1, 2, 3, 4 and 6 of 30 synthetic images; all 30 give .984, or .977 without pairs."""


Reference = Mapping[str, Sequence[float | None]]
"""Results of an independent program for each row of a table, one per column."""


def reference_table(
    frame: pd.DataFrame,
    by: str,
    columns: Sequence[str],
    reference: Reference,
    test_shares: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Return the mean of each column with its 95 % confidence interval and, in parentheses, the reference.

    Parameters
    ----------
    frame : DataFrame
        One row per run, with NaN for missing values.
    by : str
        Column whose values name the rows of the result.
    columns : sequence of str
        Columns to average.
    reference : mapping
        Reference numbers by row name. Rows and numbers may be missing.
    test_shares : mapping of str to float, optional
        Share of test instances by row name, if the runs of a row are splits of the same data; see
        :func:`~psm_lab.studies.active.learner_trials.resampled_interval`.
    """
    shares, missing = test_shares or {}, [None] * len(columns)
    lines = [
        {
            by: name,
            **{
                column: _cell(group[column].dropna(), number, shares.get(str(name), 0.0))
                for column, number in zip(columns, reference.get(str(name), missing), strict=True)
            },
        }
        for name, group in frame.groupby(by, sort=False)
    ]
    return pd.DataFrame(lines)


def _cell(values: pd.Series[float], reference: float | None, test_share: float) -> str:
    if values.empty:
        return ""
    return f"{resampled_interval(values, test_share):.3f}" + (
        "" if reference is None else f" ({reference:.3f})"
    )


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
        Column whose values are subtracted.
    names : tuple of str
        Minuend and subtrahend.
    """
    wide = frame.pivot_table(index="seed", columns=by, values=column)
    differences: pd.Series[float] = wide[names[0]] - wide[names[1]]
    return differences


def judge_direction(
    study: str,
    names: tuple[str, str],
    source: str,
    values: pd.Series[float],
    side: int = -1,
    role: str = PUBLISHED,
    test_share: float = 0.0,
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
    role, test_share
        See :func:`~psm_lab.studies.active.learner_trials.judge_claim`.
    """
    return judge_claim(direction(study, *names, source, side=side), values, role, test_share)
