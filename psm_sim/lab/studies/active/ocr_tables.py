"""Tables and remarks of the OCR study: labels beside the thesis's table 4.1 and an independent program's."""

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
"""Mean labels of the thesis's table 4.1, in the order of the combinations; the first five are MNIST's."""

REFERRED = "CBGZperc"
"""The combination that an independent program was run with."""

REFERENCE = (23.0, 46.0, 41.0, 27.0, 151.0)
REFERENCE_ARRIVED = (1.0, 1.0, 1.0, 0.76, 1.0)
"""Its mean labels for MNIST's problems, and the share of its folds that arrived, from one split each."""

PAIRS = (
    ("CBGZperc", "randPerc"),
    ("DKMperc", "randPerc"),
    ("DKM^2", "randDKM"),
    ("CBGZperc", "CBGZ_DKM"),
    ("randPerc", "randDKM"),
)


def table_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Return mean, spread over the splits, median and share that arrives, one row per combination."""
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
    """Paired comparison over problems: geometric mean of the ratios, problems won, two-sided exact p."""

    ratio: float
    lower: int
    p: float


def compare(first: ArrayLike, second: ArrayLike) -> Comparison:
    """Return how two series over the same problems compare, with Wilcoxon's signed rank test.

    Parameters
    ----------
    first, second : array_like, shape (problems,)
        Labels, above 0.
    """
    from scipy.stats import wilcoxon

    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    p = float(wilcoxon(a, b, method="exact").pvalue) if (a != b).any() else 1.0
    return Comparison(float(np.exp(np.mean(np.log(a / b)))), int(np.sum(a < b)), p)


def remarks_of(frame: pd.DataFrame) -> list[str]:
    """Return how the pairs of combinations compare, and what the tuned parameters come to."""
    medians = frame.pivot_table("counted", "problem", "combination", "median")
    found = {pair: compare(medians[pair[0]], medians[pair[1]]) for pair in PAIRS} if len(medians) else {}
    compared = [
        f"{first} over {second}, medians: geometric mean {each.ratio:.2f}, lower in {each.lower} of"
        f" {len(medians)}, exact Wilcoxon p = {each.p:.3g}."
        for (first, second), each in found.items()
    ]
    return [*compared, *_by_tuning(frame)]


def _by_tuning(frame: pd.DataFrame) -> list[str]:
    """Return what CBGZperc's labels come to for each tuned parameter, where the reference is furthest."""
    mine = frame[frame["combination"] == REFERRED]
    splits = mine.groupby(["problem", "seed"], sort=False).agg({"labels": "mean", "spec": "first"})
    means = splits["labels"].groupby("problem").mean()
    if means.empty:
        return []
    reference = pd.Series(REFERENCE, index=pd.Index(MNIST))
    furthest = str((means / reference).apply(np.log).abs().idxmax())
    tuned = splits.loc[furthest].groupby("spec")["labels"].agg(["mean", "size"])
    each = ", ".join(f"{row['mean']:.0f} in {row['size']:.0f} with {spec}" for spec, row in tuned.iterrows())
    return [
        (
            f"Furthest from the reference's one split is {REFERRED} on {furthest}: {reference[furthest]:.0f}"
            f" there; mean labels of our {len(splits.loc[furthest])} splits by what tuning chose: {each}."
        )
    ]


def untuned_table_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Return labels, share that arrives and mean cost while tuning for each parameter, and the reference.

    The cost is what tuning makes least in each split: mean labels over the folds of its tuning part, where
    a fold that never arrives counts all its passes.
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
    """Return one remark for each problem on which not all folds of the reference arrived."""
    if frame.empty:
        return []
    table = untuned_table_of(frame)
    return [_nearest(part) for _, part in table[table["reference arrived"] < 1].groupby("problem")]


def _nearest(table: pd.DataFrame) -> str:
    """Return which parameter arrives about as often as the reference, and which one tuning prefers."""
    near = table.iloc[int((table["arrived"] - table["reference arrived"]).abs().argmin())]
    least = table.iloc[int(table["cost while tuning"].argmin())]
    return (
        f"On {near['problem']} {near['reference arrived']:.2f} of the reference's folds arrived, with"
        f" {near['reference mean']:.0f} labels; nearest to that is {near['spec']} in all splits, untuned:"
        f" {near['arrived']:.2f} arrive, with {near['mean']:.1f} labels. Over all splits tuning counts"
        f" {near['cost while tuning']:.0f} for it and least, {least['cost while tuning']:.0f}, for"
        f" {least['spec']}, which needs {least['mean']:.1f} labels."
    )
