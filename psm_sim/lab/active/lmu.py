"""LMU: which image to have segmented next, so that few images train a segmenter ([003] chapter 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.array_types import IntArray
from psm_sim.errors import InputError
from psm_sim.lab.active import input_checks
from psm_sim.lab.active.ask_tell import AskTellLearner
from psm_sim.lab.active.crf import Crf, Image
from psm_sim.lab.active.crf_fit import fit_field, fit_semilabelled, fit_unlabelled
from psm_sim.parameter_values import Parameter


class Variant(NamedTuple):
    """How the first image is chosen, how the next ones are, and whether neighbours interact."""

    first: str
    later: str
    pairs: bool = True


VARIANTS = {
    "lmu": Variant("ru", "mu"),
    "lmu-rand-start": Variant("random", "mu"),
    "lmu-logreg": Variant("ru", "mu", pairs=False),
    "mu": Variant("mu", "mu"),
    "ru": Variant("ru", "ru"),
    "random": Variant("random", "random"),
}
"""Name of a variant, and what it is: ``ru`` lowers the others' uncertainty, ``mu`` is the most uncertain."""

_GAMMA = Parameter("gamma", 1.0, at_least=0)
_VARIANT = Parameter("variant", "lmu", choices=tuple(VARIANTS))


class Lmu(AskTellLearner[int, ArrayLike]):
    """LMU: asks for the labels of an image of the pool, is told them, and fits its field again.

    The first image is the one whose own field, fitted without labels, leaves the others least uncertain
    (RU); each later one is the one that the field is most uncertain of (MU). ``mu`` from the start knows
    nothing of any image, so its first is number 0. Equals go to the lower number.

    Parameters
    ----------
    images : sequence of array_like or Image, each of shape (rows, columns, k)
        The pool, at least one; standardise the numbers over the pool.
    variant : str
        One of :data:`VARIANTS`.
    gamma : float
        What the entropy of an image without labels counts in RU once others have labels, 0 or more.
    staged : bool
        Fit w before v; see :func:`~psm_sim.lab.active.crf_fit.fit_field`.
    ru_pairs : bool
        Fit v without labels too in the first RU; see :func:`~psm_sim.lab.active.crf_fit.fit_unlabelled`.
    seed, replication : int
        Of the random stream.
    """

    name = "lmu"
    settings = ("variant", "gamma", "staged", "ru_pairs")

    def __init__(
        self,
        images: Sequence[ArrayLike | Image],
        variant: str = "lmu",
        gamma: float = 1.0,
        staged: bool = True,
        ru_pairs: bool = False,
        seed: int = 1,
        replication: int = 0,
    ) -> None:
        super().__init__(seed, replication)
        if not len(images):
            raise InputError(f"{self.name}: there are 0 images; expected at least 1.")
        self.images = [image if isinstance(image, Image) else Image(image) for image in images]
        if len({image.features for image in self.images}) > 1:
            raise InputError(
                f"{self.name}: the images differ in their numbers per pixel; expected as many each."
            )
        self.variant = VARIANTS[_VARIANT.check(variant, self.name)]
        self.gamma = _GAMMA.check(gamma, self.name)
        self.staged, self.ru_pairs = staged, ru_pairs
        self.theta = Crf.zero(self.images[0].features)
        self.chosen: list[int] = []
        self._labels: list[IntArray] = []

    @property
    def unlabelled(self) -> list[int]:
        """The numbers of the images without labels, rising."""
        return [index for index in range(len(self.images)) if index not in self.chosen]

    def _next(self) -> int:
        rest = self.unlabelled
        if not rest:
            raise InputError(f"{self.name}: all {len(self.images)} images are labelled; ask for no more.")
        rule = self.variant.later if self.chosen else self.variant.first
        if rule == "random":
            return int(self._rng.choice(rest))
        if rule == "mu":
            return rest[int(np.argmax([self.images[index].entropy(self.theta) for index in rest]))]
        return rest[int(np.argmin([self._left(index, rest) for index in rest]))]

    def _left(self, index: int, rest: list[int]) -> float:
        """Return the entropy of the other unlabelled images once one more has been taken into account."""
        image = self.images[index]
        if self.chosen:
            known = [self.images[each] for each in self.chosen]
            theta = fit_semilabelled(known, self._labels, image, self.theta, self.gamma)
        else:
            theta = fit_unlabelled(image, self.ru_pairs and self.variant.pairs)
        return sum(self.images[other].entropy(theta) for other in rest if other != index)

    def _checked(self, answer: ArrayLike) -> IntArray:
        assert self._asked is not None  # noqa: S101
        return self.images[self._asked].labels(answer)

    def _learn(self, asked: int, answer: ArrayLike) -> None:
        self.chosen.append(asked)
        self._labels.append(np.asarray(answer, dtype=np.intp))
        known = [self.images[each] for each in self.chosen]
        self.theta = fit_field(known, self._labels, self.variant.pairs, self.staged)

    def run(self, oracle: Callable[[int], ArrayLike], images: int) -> Crf:
        """Have ``oracle(index)`` label images until there are *images* of them, and return the field."""
        self.buy(oracle, images)
        return self.theta

    def segment(self, image: ArrayLike | Image) -> IntArray:
        """Return the labels of an image, shape (rows, columns), each -1 or 1."""
        return (image if isinstance(image, Image) else Image(image)).segment(self.theta)

    def _dump_state(self) -> dict[str, Any]:
        field = {"w": self.theta.w.tolist(), "v": self.theta.v.tolist()}
        told = {"chosen": list(self.chosen), "labels": [label.tolist() for label in self._labels]}
        return {**super()._dump_state(), **told, **field}

    def _load_state(self, state: Mapping[str, Any]) -> dict[str, Any]:
        chosen = [int(each) for each in state["chosen"]]
        if not set(chosen) <= set(range(len(self.images))):
            raise ValueError(f"the pool has {len(self.images)} images only")
        labels = [self.images[i].labels(y) for i, y in zip(chosen, state["labels"], strict=True)]
        width = self.theta.w.size
        w, v = (input_checks.check_instance(state[name], width, self.name)[0] for name in ("w", "v"))
        return {**super()._load_state(state), "chosen": chosen, "_labels": labels, "theta": Crf(w, v)}


def f_measure(predicted: IntArray, truth: IntArray) -> float:
    """Return 2PR/(P + R) for labels -1 or 1 of any shape; 0 where no positive is found."""
    found = float(((predicted > 0) & (truth > 0)).sum())
    return 2 * found / ((predicted > 0).sum() + (truth > 0).sum()) if found else 0.0


def mean_f_measure(theta: Crf, images: Sequence[Image], truth: Sequence[IntArray]) -> float:
    """Return the mean over images of the F-measure of their segmentation.

    Parameters
    ----------
    theta : Crf
        The field.
    images : sequence of Image
        The images, at least one.
    truth : sequence of ndarray, each of the image's shape
        Their labels.
    """
    each = [f_measure(image.segment(theta), y) for image, y in zip(images, truth, strict=True)]
    return float(np.mean(each))
