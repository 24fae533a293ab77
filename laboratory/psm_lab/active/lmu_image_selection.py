"""LMU: choose the next image to segment, so that few labelled images train a segmenter ([003] chapter 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from psm_lab.active.ask_tell import AskTellLearner
from psm_lab.active.pixel_crf import Crf, Image, fit_field, fit_unlabelled
from psm_sim.common.array_types import IntArray
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import Parameter


class Variant(NamedTuple):
    """Whether the first and the later images are chosen at random, and whether neighbours interact."""

    random_first: bool = False
    random_later: bool = False
    pairs: bool = True


VARIANTS = {
    "lmu": Variant(),
    "lmu-rand-start": Variant(random_first=True),
    "lmu-logreg": Variant(pairs=False),
    "random": Variant(random_first=True, random_later=True),
}
"""Variants by name."""

_VARIANT = Parameter("variant", "lmu", choices=tuple(VARIANTS))


class Lmu(AskTellLearner[int, ArrayLike]):
    """LMU: queries the labels of one image of the pool at a time and refits its field.

    A field is fitted to each image without its labels. The first query is the image whose field leaves
    the other images least uncertain (RU). Each later query is the image about which the current field is most
    uncertain (MU). Ties go to the lower index.

    Parameters
    ----------
    images : sequence of array_like or Image, each of shape (rows, columns, k)
        Pool of at least one image, standardised over the pool.
    variant : str
        One of :data:`VARIANTS`.
    staged : bool
        Fit w before v; see :func:`~psm_lab.active.pixel_crf.fit_field`.
    seed, replication : int
        Seed and replication of the random stream.
    """

    name = "lmu"

    def __init__(
        self,
        images: Sequence[ArrayLike | Image],
        variant: str = "lmu",
        staged: bool = True,
        seed: int = 1,
        replication: int = 0,
    ) -> None:
        super().__init__(seed, replication)
        if not len(images):
            raise InputError(f"{self.name}: images must have at least 1 image, got 0.")
        self.images = [image if isinstance(image, Image) else Image(image) for image in images]
        if len({image.features for image in self.images}) > 1:
            raise InputError(f"{self.name}: all images must have the same number of features per pixel.")
        self.variant = VARIANTS[_VARIANT.check(variant, self.name)]
        self.staged = staged
        self.theta = Crf.zero(self.images[0].features)
        self.chosen: list[int] = []
        self._labels: list[IntArray] = []

    @property
    def unlabelled(self) -> list[int]:
        """Indices of the images without labels, in ascending order."""
        return [index for index in range(len(self.images)) if index not in self.chosen]

    def _next(self) -> int:
        unlabelled = self.unlabelled
        if not unlabelled:
            raise InputError(f"{self.name}: all {len(self.images)} images of the pool are already labelled.")
        if self.variant.random_later if self.chosen else self.variant.random_first:
            return int(self._rng.choice(unlabelled))
        if self.chosen:
            return max(unlabelled, key=lambda index: self.images[index].entropy(self.theta))
        return min(unlabelled, key=self._remaining_entropy)

    def _remaining_entropy(self, index: int) -> float:
        """Return the entropy of the other images under a field fitted to image *index* without labels."""
        theta = fit_unlabelled(self.images[index])
        return sum(other.entropy(theta) for other in self.images if other is not self.images[index])

    def _check_answer(self, answer: ArrayLike) -> IntArray:
        assert self._asked is not None  # noqa: S101
        return self.images[self._asked].labels(answer)

    def _learn(self, asked: int, answer: ArrayLike) -> None:
        self.chosen.append(asked)
        self._labels.append(np.asarray(answer, dtype=np.intp))
        labelled = [self.images[i] for i in self.chosen]
        self.theta = fit_field(labelled, self._labels, self.variant.pairs, self.staged)

    def run(self, oracle: Callable[[int], ArrayLike], images: int) -> Crf:
        """Query ``oracle(index)`` until *images* images are labelled, and return the field."""
        self.query(oracle, images)
        return self.theta


def f_measure(predicted: IntArray, truth: IntArray) -> float:
    """Return 2PR/(P + R) for labels -1 or 1 of any shape; 0 without true positives."""
    hits = float(((predicted > 0) & (truth > 0)).sum())
    return 2 * hits / ((predicted > 0).sum() + (truth > 0).sum()) if hits else 0.0


def mean_f_measure(theta: Crf, images: Sequence[Image], truth: Sequence[IntArray]) -> float:
    """Return the mean F-measure of the segmentations of images.

    Parameters
    ----------
    theta : Crf
        Field.
    images : sequence of Image
        At least one image.
    truth : sequence of ndarray, each of the image's shape
        True labels of the images.
    """
    scores = [f_measure(image.segment(theta), y) for image, y in zip(images, truth, strict=True)]
    return float(np.mean(scores))
