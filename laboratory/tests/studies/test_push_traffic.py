"""Push traffic of the studies."""

from __future__ import annotations

import numpy as np
import pytest
from psm_lab.push_traffic import PUSH_KINDS, push_workload

HOURS = 100
RATES = {"poisson": 1 / 60, "bursts": (300 / 120 + 30 / 3) / 330, "clock": 1 / 30}


@pytest.mark.parametrize("kind", RATES)
def test_each_kind_of_push_traffic_has_its_mean_rate(kind):
    """The tolerance is 6 % over a hundred hours."""
    messages = push_workload(kind, HOURS, 1).messages
    assert len(messages) == pytest.approx(HOURS * 3600 * RATES[kind], rel=0.06)


def test_shifting_traffic_consists_of_each_kind_of_traffic_for_a_third_of_the_time():
    """The last third has a push every 30 s."""
    times_s = push_workload(PUSH_KINDS[-1], HOURS, 1).messages.at_s
    end_s = HOURS * 3600
    last = times_s[times_s > 2 * end_s / 3 + 100] - 2 * end_s / 3
    assert np.abs(last / 30 - np.round(last / 30)).max() < 0.1
    counts, _ = np.histogram(times_s, bins=3, range=(0, end_s))
    assert counts / (end_s / 3) == pytest.approx(list(RATES.values()), rel=0.12)


def test_poisson_pushes_equal_those_of_the_bundled_trace():
    from psm_sim.workload import load_workload

    bundled, own = load_workload("pushes", 2, 3), push_workload("poisson", 2, 3)
    assert (bundled.messages, bundled.pages) == (own.messages, own.pages)
