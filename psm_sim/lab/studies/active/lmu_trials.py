"""Trials of LMU on synthetic sky, with F-measures after 1 to 6 images and after all images."""

from __future__ import annotations

from typing import Any

import numpy as np

from psm_sim.common.array_types import IntArray
from psm_sim.common.random_streams import random_stream
from psm_sim.lab.active.data.sky_segmentation_images import synthetic_sky_set
from psm_sim.lab.active.lmu_image_selection import Lmu, mean_f_measure
from psm_sim.lab.active.pixel_crf import Image
from psm_sim.lab.active.pixel_crf_training import fit_field

POOL, TEST = 30, 20
COUNTS = (1, 2, 3, 4, 6)
COLUMNS = ["1 image", *(f"{count} images" for count in COUNTS[1:])]
LEARNERS: dict[str, dict[str, Any]] = {
    "lmu": {},
    "lmu, v in the first choice": {"ru_pairs": True},
    "lmu, fitted jointly": {"staged": False},
    "lmu-rand-start": {"variant": "lmu-rand-start"},
    "lmu-logreg": {"variant": "lmu-logreg"},
    "mu": {"variant": "mu"},
    "ru": {"variant": "ru"},
    "random": {"variant": "random"},
}
_REPEATS = {"random": 5, "lmu-rand-start": 5}


def run_of(learner: str, seed: int) -> list[dict[str, Any]]:
    """Return the F-measures of one learner after each number of images, one row.

    A learner with a random start runs five times on the set, and the row is the mean.

    Parameters
    ----------
    learner : str
        Name of a learner in :data:`LEARNERS`.
    seed : int
        Seed of the images and the learner.
    """
    images, labels = _set(seed)
    runs = []
    for repeat in range(_REPEATS.get(learner, 1)):
        lmu = Lmu(images[:POOL], **LEARNERS[learner], seed=seed, replication=repeat)
        fields = [lmu.run(labels.__getitem__, count) for count in COUNTS]
        runs.append([mean_f_measure(theta, images[POOL:], labels[POOL:]) for theta in fields])
    means = np.mean(runs, axis=0).tolist()
    return [{"learner": learner, "seed": seed, **dict(zip(COLUMNS, means, strict=True))}]


def all_of(seed: int) -> list[dict[str, Any]]:
    """Return the F-measures of fields trained on all images of the pool of a set, one row."""
    images, labels = _set(seed)
    choices: dict[str, dict[str, bool]] = {
        "all": {},
        "no pairs": {"pairs": False},
        "jointly": {"staged": False},
    }
    fields = {name: fit_field(images[:POOL], labels[:POOL], **choice) for name, choice in choices.items()}
    means = {name: mean_f_measure(theta, images[POOL:], labels[POOL:]) for name, theta in fields.items()}
    return [{"seed": seed, **means}]


def _set(seed: int) -> tuple[list[Image], list[IntArray]]:
    photographs = synthetic_sky_set(random_stream(seed, "sky"), POOL + TEST)
    return [Image(photograph.features) for photograph in photographs], [
        photograph.labels for photograph in photographs
    ]
