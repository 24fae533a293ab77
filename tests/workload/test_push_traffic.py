"""Pushes: the traffic that nobody asked for, as drawn, as sent, and as the result shows it."""

from __future__ import annotations

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.simulation import simulate
from psm_sim.workload import load_workload
from psm_sim.workload.push_traffic import Pushes, push_times

HOURS = 100 * 3600.0
RATES = {"poisson": 1 / 60, "bursts": (300 / 120 + 30 / 3) / 330, "clock": 1 / 30}


def drawn(kind, length_s=HOURS, seed=1, **parameters):
    """Return the times of pushes of a kind, shape (n,)."""
    return np.array(push_times(Pushes(kind, **parameters), length_s, np.random.default_rng(seed)))


@pytest.mark.parametrize("kind", RATES)
def test_the_rate_is_the_one_that_the_parameters_say(kind):
    """Over a hundred hours, within 6 %; the times ascend."""
    found = drawn(kind)
    assert len(found) == pytest.approx(HOURS * RATES[kind], rel=0.06)
    assert (np.diff(found) >= 0).all()
    assert found[0] >= 0
    assert found[-1] < HOURS


def test_poisson_times_are_memoryless_bursts_are_not_and_a_clock_is_regular():
    """The variation of the time between two: 1, far above 1, and near 0."""
    variation = {kind: np.diff(drawn(kind)).std() / np.diff(drawn(kind)).mean() for kind in RATES}
    assert variation["poisson"] == pytest.approx(1, abs=0.05)
    assert variation["bursts"] > 1.8
    assert variation["clock"] == pytest.approx(0.3 * np.sqrt(2) / 30, rel=0.1)


def test_a_shift_has_each_kind_for_a_third():
    """In the last third one push every 30 s."""
    found = drawn("shift")
    last = found[found > 2 * HOURS / 3 + 100] - 2 * HOURS / 3
    assert np.abs(last / 30 - np.round(last / 30)).max() < 0.1
    counts, _ = np.histogram(found, bins=3, range=(0, HOURS))
    assert counts / (HOURS / 3) == pytest.approx(list(RATES.values()), rel=0.12)


def test_the_result_has_the_delays_from_the_access_point_to_the_station():
    """With static PSM at most a beacon interval, half of it in the mean; without power saving the airtime."""
    psm, awake = (simulate(policy, trace="pushes:page_s=1800", pages=1) for policy in ("psm", "always-on"))
    assert psm.pushes is not None
    assert awake.pushes is not None
    assert psm.pushes.sent == psm.pushes.delivered == awake.pushes.delivered > 15
    assert psm.pushes.delay_s.mean == pytest.approx(0.05, abs=0.02)
    assert psm.pushes.delay_s.max < 0.102
    assert awake.pushes.delay_s.max == pytest.approx(300 * 8 / 5e6 + 1e-4)
    assert psm.to_dict()["pushes"]["delay_s"]["p95"] == psm.pushes.delay_s.p95


@pytest.mark.parametrize("bad", ["kind=rare", "mean_s=0", "bytes=3", "nonsense=1"])
def test_a_parameter_that_cannot_be_used_is_an_error_of_the_trace(bad):
    with pytest.raises(InputError, match="trace pushes"):
        load_workload(f"pushes:{bad}", 1, 1)


@pytest.mark.parametrize(
    "given",
    [
        "pushes:mean_s=1e-6",
        "pushes:kind=clock,period_s=1e-6",
        "pushes:kind=bursts,busy_for_s=1e-12,quiet_for_s=1e-12",
        "pushes:kind=shift,page_s=1e9,busy_s=1e-3",
        "push:timing=bursts,busy_for_s=1e-12,quiet_for_s=1e-12",
        "push:period_s=1e-6",
    ],
)
def test_more_datagrams_than_can_be_drawn_are_refused_and_so_is_a_change_each_moment(given):
    """At once: the loop over busy and quiet times of no length would not end in a lifetime."""
    with pytest.raises(InputError, match=r"expected at most 10?,000,000 (busy and quiet periods|messages)"):
        load_workload(given, 10, 1)
