"""Check the model of recordings against its own exact charges."""

from __future__ import annotations

import numpy as np
import pytest

from tests.calibration.current_model import KINDS, make_recording


@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_of_a_recording_follows_from_the_charges_of_its_causes(kind):
    times_s, level_ma, truth = make_recording(kind, 3)
    length_s = KINDS[kind].length_s
    assert truth.mean_ma == pytest.approx(sum(truth.charge_mc.values()) / length_s, rel=1e-6)
    assert level_ma.mean() == pytest.approx(truth.mean_ma, rel=0.03)
    assert np.all(np.diff(times_s) >= 0)


def test_a_seed_reproduces_its_recording():
    (times_s, level_ma, truth), again = make_recording("everything", 5), make_recording("everything", 5)
    assert np.array_equal(times_s, again[0])
    assert np.array_equal(level_ma, again[1])
    assert truth == again[2]
    assert not np.array_equal(level_ma, make_recording("everything", 6)[1])
