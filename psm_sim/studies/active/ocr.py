"""OCR: six combinations of query rule and update on handwritten digits (thesis, table 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from psm_sim.active.data.mnist import digits_file, mnist_file
from psm_sim.campaign.tasks import Rows, Task
from psm_sim.studies.active.ocr_trials import COMBINATIONS, MNIST, SMALL, labels_of
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

QUICK = ("0v1", "4v7", "6v9")
SMALL_SPLITS = 2
PAIRS = (
    ("CBGZperc", "randPerc"),
    ("DKMperc", "randPerc"),
    ("DKM^2", "randDKM"),
    ("CBGZperc", "CBGZ_DKM"),
    ("randPerc", "randDKM"),
)


REFERENCE = (23.0, 46.0, 41.0, 27.0, 151.0)
"""Mean labels of CBGZperc by an independent program, for MNIST's problems, from one split each."""

ABSENT = "The images are not installed: pip install 'psm_sim[studies]'."
COMMENTARY = (
    "Two digits have 700 training images here, about 9000 in the thesis; USPS cannot be had.",
    (
        "A tuning part of two digits has 300 images: what is chosen on it varies, and the labels with it; the"
        " spread over the splits is stated."
    ),
    "DKMperc is fast where it arrives, but stops asking on the other folds (small R).",
)
_SMALL = "On the digits of 8 x 8 pixels, small and easy, two splits, nothing is claimed."


class Ocr:
    """Labels until the test error is reached, per split, problem, combination and fold."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one trial per split, problem and combination; none without the images."""
        return [
            Trial(
                "folds",
                labels_of,
                {
                    "problem": problem,
                    "combination": name,
                    "reshuffles": 5 if is_full(scale) else 1,
                    "seed": split,
                },
                weight=len(specs),
            )
            for problem in _problems(is_full(scale))
            for split in scale.seeds(seed)[: SMALL_SPLITS if problem in SMALL else None]
            for name, specs in COMBINATIONS.items()
        ]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return mean, spread, median and share that arrives, beside the published means, and paired tests.

        *rows*, *scale* and *seed* as in :class:`~psm_sim.studies.study.Study`.
        """
        if not len(rows):
            return missing(NAME, TITLE, ABSENT)
        frame = frame_of(rows, "folds")
        frame["counted"] = frame["labels"].fillna(frame["length"])
        parts = {name: frame[frame["problem"].isin(names)] for name, names in (("", MNIST), ("small", SMALL))}
        words = "Labels to the test error"
        return Findings(
            NAME,
            TITLE,
            f"MNIST-5k, 30 % tuning, the rest in {frame['reshuffle'].nunique()} x 5 folds, one pass,"
            f" {frame['seed'].nunique()} splits from seed {seed}; the sd is over the splits; a fold that does"
            " not arrive counts as its length in the median",
            remarks=_remarks(parts[""]),
            commentary=[*COMMENTARY, *([_SMALL] if len(parts["small"]) else [])],
            tables=[
                Table(f"{words}, digits of 8 x 8 pixels, eight passes" if name else words, _table(part))
                for name, part in parts.items()
                if len(part)
            ],
            claims=_claims(parts[""]),
        )


def _problems(full: bool) -> list[str]:
    found = list(MNIST) if mnist_file() is not None else []
    if not full:
        return [each for each in found if each in QUICK]
    return [*found, *(SMALL if digits_file() is not None else ())]


def _table(frame: pd.DataFrame) -> pd.DataFrame:
    keys = ["problem", "combination"]
    splits = frame.groupby([*keys, "seed"], sort=False)["labels"].mean()
    table = splits.groupby(keys, sort=False).agg(["mean", "std"]).rename(columns={"std": "sd"})
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
        REFERENCE[list(MNIST).index(problem)] if problem in MNIST and name == "CBGZperc" else None
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


def _remarks(frame: pd.DataFrame) -> list[str]:
    medians = frame.pivot_table("counted", "problem", "combination", "median")
    found = {pair: compare(medians[pair[0]], medians[pair[1]]) for pair in PAIRS} if len(medians) else {}
    return [
        f"{first} over {second}, medians: geometric mean {each.ratio:.2f}, lower in {each.lower} of"
        f" {len(medians)}, exact Wilcoxon p = {each.p:.3g}."
        for (first, second), each in found.items()
    ]


def _claims(frame: pd.DataFrame) -> list[Claim]:
    """Return one claim per pair, from the mean over the problems of each split."""
    if not len(frame):
        return []
    logs = frame.groupby(["seed", "problem", "combination"])["counted"].median().map(np.log10)
    means = logs.groupby(["seed", "combination"]).mean().unstack()
    what = "log10 of median labels, mean over the problems"
    return [
        judged(
            Direction(NAME, f"{first} - {second}", what, "thesis, table 4.1", side=-1),
            means[first] - means[second],
        )
        for first, second in PAIRS
    ]


STUDY = Ocr()
