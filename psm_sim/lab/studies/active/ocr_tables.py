"""Tables and remarks of the OCR study, with the thesis's table 4.1 and an independent program."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from psm_sim.lab.studies.active.ocr_trials import COMBINATIONS, MNIST

PUBLISHED = {
    "0v1": (28.02, 13.78, 130.12, 32.78, 87.72, 83.76),
    "0vAll": (105.30, 57.26, 183.78, 62.66, 173.44, 103.74),
    "4v7": (150.02, 44.00, 194.36, 63.32, 276.92, 107.98),
    "6v9": (163.12, 20.44, 218.28, 30.66, 367.24, 104.06),
    "147vAll": (275.34, 217.06, 379.16, 170.02, 375.46, 214.16),
    "USPS 0vAll": (174.22, 87.56, 156.08, 115.14, 235.10, 173.96),
    "USPS 147vAll": (190.72, 137.86, 193.70, 116.28, 210.40, 151.32),
}
"""Mean labels of the thesis's table 4.1, in the order of the combinations. The first five rows are MNIST."""

REFERRED = "CBGZperc"
"""Combination for which there are results of an independent program."""

REFERENCE = (23.0, 46.0, 41.0, 27.0, 151.0)
REFERENCE_ARRIVED = (1.0, 1.0, 1.0, 0.76, 1.0)
"""Its mean labels on the MNIST problems, and the share of folds that reach the error, from one split."""

PAIRS = (
    ("CBGZperc", "randPerc"),
    ("DKMperc", "randPerc"),
    ("DKM^2", "randDKM"),
    ("CBGZperc", "CBGZ_DKM"),
    ("randPerc", "randDKM"),
)


def table_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the mean, spread, median and share of folds that reach the error, one row per combination."""
    keys = ["problem", "combination"]
    splits = frame.groupby([*keys, "seed"], sort=False)["labels"].mean()
    table = splits.groupby(keys, sort=False).agg(["mean", "std", "min", "max"])
    table.columns = pd.Index(["mean", "sd", "lowest split", "highest split"])
    groups = frame.groupby(keys, sort=False)
    table["median"] = groups["counted"].median()
    table["arrived"] = groups["labels"].apply(lambda labels: labels.notna().mean())
    table["tuned most often"] = groups["spec"].agg(lambda specs: specs.mode().iloc[0])
    names = list(COMBINATIONS)
    table["published mean"] = [
        PUBLISHED[problem][names.index(name)] if problem in PUBLISHED else None
        for problem, name in table.index
    ]
    table["reference mean"] = [
        REFERENCE[list(MNIST).index(problem)] if problem in MNIST and name == REFERRED else None
        for problem, name in table.index
    ]
    return table.dropna(axis="columns", how="all").reset_index()


class Comparison(NamedTuple):
    """Paired comparison over problems.

    ``ratio`` is the geometric mean of the ratios, ``lower`` the number of problems with fewer labels, and
    ``p`` the two-sided exact p-value.
    """

    ratio: float
    lower: int
    p: float


def compare(first: ArrayLike, second: ArrayLike) -> Comparison:
    """Compare two series over the same problems by Wilcoxon's signed-rank test.

    Parameters
    ----------
    first, second : array_like, shape (problems,)
        Numbers of labels, above 0.
    """
    from scipy.stats import wilcoxon

    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    p = float(wilcoxon(a, b, method="exact").pvalue) if (a != b).any() else 1.0
    return Comparison(float(np.exp(np.mean(np.log(a / b)))), int(np.sum(a < b)), p)


def remarks_of(frame: pd.DataFrame) -> list[str]:
    """Return remarks that compare the pairs of combinations, and a remark on the tuned parameters."""
    medians = frame.pivot_table("counted", "problem", "combination", "median")
    pairs = {pair: compare(medians[pair[0]], medians[pair[1]]) for pair in PAIRS} if len(medians) else {}
    comparisons = [
        f"Median labels of {first} divided by those of {second}: geometric mean {pair.ratio:.2f}, lower in"
        f" {pair.lower} of {len(medians)} problems, exact Wilcoxon p = {pair.p:.3g}."
        for (first, second), pair in pairs.items()
    ]
    return [*comparisons, *_tuning_remark(frame)]


def _tuning_remark(frame: pd.DataFrame) -> list[str]:
    """Return the labels for each tuned parameter on the problem that differs most from the reference."""
    folds = frame[frame["combination"] == REFERRED]
    splits = folds.groupby(["problem", "seed"], sort=False).agg({"labels": "mean", "spec": "first"})
    means = splits["labels"].groupby("problem").mean()
    if means.empty:
        return []
    reference = pd.Series(REFERENCE, index=pd.Index(MNIST))
    furthest = str((means / reference).apply(np.log).abs().idxmax())
    specs = splits.loc[furthest].groupby("spec")["labels"].agg(["mean", "size"])
    text = ", ".join(f"{row['mean']:.0f} in {row['size']:.0f} with {spec}" for spec, row in specs.iterrows())
    return [
        (
            f"{REFERRED} on {furthest} differs most from the single split of the reference, which needs"
            f" {reference[furthest]:.0f} labels. Mean labels of the {len(splits.loc[furthest])} simulated"
            f" splits by tuned parameter: {text}."
        )
    ]


def untuned_table_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Return labels, share of folds that reach the error, tuning cost and reference for each parameter.

    Tuning minimises the cost in each split. The cost is the mean number of labels over the folds of the
    tuning part. A fold that never reaches the error counts all its passes.
    """
    keys = ["problem", "spec"]
    splits = frame.groupby([*keys, "seed"], sort=False)["labels"].mean()
    table = splits.groupby(keys, sort=False).agg(["mean", "min", "max"])
    table.columns = pd.Index(["mean", "lowest split", "highest split"])
    table["arrived"] = frame.groupby(keys, sort=False)["labels"].apply(lambda labels: labels.notna().mean())
    table["cost while tuning"] = frame.groupby(keys, sort=False)["cost"].mean()
    table = table.reset_index()
    for name, values in (("reference mean", REFERENCE), ("reference arrived", REFERENCE_ARRIVED)):
        table[name] = table["problem"].map(dict(zip(MNIST, values, strict=True)))
    return table


def nearest_of(frame: pd.DataFrame) -> list[str]:
    """Return one remark for each problem on which some folds of the reference miss the error."""
    if frame.empty:
        return []
    table = untuned_table_of(frame)
    return [_nearest(part) for _, part in table[table["reference arrived"] < 1].groupby("problem")]


def _nearest(table: pd.DataFrame) -> str:
    """Return a remark on the parameter nearest to the reference and on the parameter that tuning prefers."""
    near = table.iloc[int((table["arrived"] - table["reference arrived"]).abs().argmin())]
    best = table.iloc[int(table["cost while tuning"].argmin())]
    return (
        f"On {near['problem']}, {near['reference arrived']:.2f} of the reference's folds reach the error,"
        f" with {near['reference mean']:.0f} labels. The nearest untuned parameter is {near['spec']}:"
        f" {near['arrived']:.2f} of its folds reach the error, with {near['mean']:.1f} labels. Its mean"
        f" tuning cost is {near['cost while tuning']:.0f}. The minimum cost is"
        f" {best['cost while tuning']:.0f}, for {best['spec']}, which needs {best['mean']:.1f} labels."
    )
