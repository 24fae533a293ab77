"""LMU on synthetic images of sky."""

from functools import lru_cache

import numpy as np
import pytest
from psm_lab.active.data.sky_segmentation_images import synthetic_sky, synthetic_sky_set
from psm_lab.active.lmu_image_selection import VARIANTS, Lmu, f_measure
from psm_lab.active.pixel_crf import Image, fit_unlabelled

from psm_sim.common.errors import InputError
from psm_sim.common.random_streams import random_stream
from psm_sim.contracts.shared_checks import pickle_round_trip


@lru_cache
def images(seed, count, size):
    """Return images and their labels."""
    photographs = synthetic_sky_set(random_stream(1, "sky", seed), count, size)
    return [Image(photograph.features) for photograph in photographs], [
        photograph.labels for photograph in photographs
    ]


def test_the_first_queried_image_leaves_the_other_images_least_uncertain():
    """All images of a small pool are compared. The next image is the one of largest entropy."""
    x, y = images(3, 8, 12)
    learner = Lmu(x)
    fields = [fit_unlabelled(image) for image in x]
    left = [sum(x[v].entropy(fields[u]) for v in range(8) if v != u) for u in range(8)]
    assert learner.ask() == int(np.argmin(left))
    learner.tell(y[learner.ask()])
    rest = learner.unlabelled
    assert learner.ask() == rest[int(np.argmax([x[u].entropy(learner.theta) for u in rest]))]


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_queries_every_image_once_and_copies_continue_equally(variant):
    """The copy is pickled after two images, with a query in progress."""
    x, y = images(3, 6, 10)
    one = Lmu(x, variant)
    one.run(lambda index: y[index], 2)
    one.ask()
    two = pickle_round_trip(one)
    for learner in (one, two):
        learner.run(lambda index: y[index], 6)
    assert one.chosen == two.chosen
    assert sorted(one.chosen) == list(range(6))
    assert one.theta.w == pytest.approx(two.theta.w)
    with pytest.raises(InputError, match="labelled"):
        one.ask()


def test_logistic_regression_segments_each_pixel_alone():
    """The variant is LMU_logReg, which has no interaction between pixels."""
    x, y = images(3, 6, 10)
    assert not Lmu(x, "lmu-logreg").run(lambda index: y[index], 2).v.any()
    assert Lmu(x).run(lambda index: y[index], 2).v.any()


def test_the_f_measure_agrees_with_hand_computed_values():
    """With two of three detected and one false alarm, precision and recall are 2/3.

    Without detections F is 0.
    """
    assert f_measure(np.array([1, 1, 1, -1]), np.array([1, 1, -1, 1])) == pytest.approx(2 / 3)
    assert f_measure(np.array([-1, -1]), np.array([1, -1])) == 0


def test_an_image_has_sky_above_its_horizon_and_seven_features_per_pixel():
    photograph = synthetic_sky(np.random.default_rng(0), 24)
    assert photograph.features.shape == (24, 24, 7)
    assert (np.diff(photograph.labels, axis=0) <= 0).all()
    assert (photograph.labels[0] == 1).all()
    assert (photograph.labels[-1] == -1).all()


def test_labels_of_a_wrong_shape_are_an_error_and_have_no_effect():
    """The query remains the current one."""
    x, _ = images(3, 6, 10)
    learner = Lmu(x)
    query = learner.ask()
    with pytest.raises(InputError, match="shape"):
        learner.tell(np.ones((2, 2)))
    assert learner.ask() == query
    assert not learner.chosen
