"""OCR: six combinations of query rule and update on handwritten digits (thesis, table 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from psm_sim.active.data.mnist import mnist_file
from psm_sim.campaign.tasks import Rows, Task
from psm_sim.studies.active.ocr_trials import COMBINATIONS, PROBLEMS, labels_of
from psm_sim.studies.active.trials import Direction, Trial, frame_of, is_full, judged, missing
from psm_sim.studies.published import Claim
from psm_sim.studies.study import Findings, Scale, Table

NAME = "ocr"
TITLE = "Labels to a test error on handwritten digits"
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

PAIRS = (
    ("CBGZperc", "randPerc"),
    ("DKMperc", "randPerc"),
    ("DKM^2", "randDKM"),
    ("CBGZperc", "CBGZ_DKM"),
    ("randPerc", "randDKM"),
)


class Ocr:
    """Labels until the test error is reached, per problem, combination and fold."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one trial per problem and combination; none without the images."""
        if mnist_file() is None:
            return []
        reshuffles, problems = (5, list(PROBLEMS)) if is_full(scale) else (1, ["0v1", "4v7", "6v9"])
        return [
            Trial(
                "folds",
                labels_of,
                {"problem": problem, "combination": name, "reshuffles": reshuffles, "seed": seed},
                weight=10 * len(specs),
            )
            for problem in problems
            for name, specs in COMBINATIONS.items()
        ]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return mean, median and share that arrives, beside the published means, and paired tests.

        *rows*, *scale* and *seed* as in :class:`~psm_sim.studies.study.Study`.
        """
        if not len(rows):
            return missing(NAME, TITLE, "The images are not installed: pip install 'psm_sim[studies]'.")
        frame = frame_of(rows, "folds")
        frame["counted"] = frame["labels"].fillna(frame["length"])
        table = _table(frame)
        medians = table.pivot_table(index="problem", columns="combination", values="median", sort=False)
        return Findings(
            NAME,
            TITLE,
            f"MNIST-5k, 30 % tuning, the rest in {frame['reshuffle'].nunique()} x 5 folds, one pass,"
            f" seed {seed}",
            remarks=[_remark(medians, first, second) for first, second in PAIRS],
            commentary=[
                "Two digits have 700 training images here, about 9000 in the thesis; USPS cannot be had.",
                "DKMperc is fast where it arrives, but stops asking on the other folds (small R).",
            ],
            tables=[Table("Labels to the test error (median: other folds count as their length)", table)],
            claims=[_claim(medians, first, second) for first, second in PAIRS],
        )


def _table(frame: pd.DataFrame) -> pd.DataFrame:
    groups = frame.groupby(["problem", "combination"], sort=False)
    table = groups["labels"].agg(["mean", "std"]).reset_index()
    table["median"] = groups["counted"].median().to_numpy()
    table["arrived"] = groups["labels"].apply(lambda labels: labels.notna().mean()).to_numpy()
    table["tuned"] = groups["spec"].first().to_numpy()
    names = list(COMBINATIONS)
    pairs = zip(table["problem"], table["combination"], strict=True)
    table["published mean"] = [PUBLISHED[problem][names.index(name)] for problem, name in pairs]
    return table


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


def _remark(medians: pd.DataFrame, first: str, second: str) -> str:
    found = compare(medians[first], medians[second])
    return (
        f"{first} over {second}, medians: geometric mean {found.ratio:.2f}, lower in {found.lower} of"
        f" {len(medians)}, exact Wilcoxon p = {found.p:.3g}."
    )


def _claim(medians: pd.DataFrame, first: str, second: str) -> Claim:
    ratios = np.log10(medians[first] / medians[second])
    what = "log10 of median labels, over the problems"
    return judged(Direction(NAME, f"{first} - {second}", what, "thesis, table 4.1", side=-1), ratios)


STUDY = Ocr()
