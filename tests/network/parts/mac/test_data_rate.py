"""Automatic rate fallback: the rules of its steps, and its effect on transfers."""

from __future__ import annotations

import pytest

from psm_sim.common.errors import InputError
from psm_sim.network import build_world, load_topology
from psm_sim.network.parts.mac.data_rate import RateFallback, make_data_rate
from psm_sim.network.topology_sections import MacParameters
from psm_sim.policies import make_policy
from psm_sim.workload.page_view import Page
from tests.network.parts.capture.sniffed import captured

ARF = MacParameters(model="dcf", rate_control="arf")


def rates_after(outcomes, mac=ARF):
    """Return the rate after each outcome: + is an ACK, - is none."""
    rate, found = RateFallback(mac), []
    for outcome in outcomes:
        rate.succeeded() if outcome == "+" else rate.failed()
        found.append(rate.timing.data_mbps)
    return found


def test_the_rate_falls_after_every_second_failure_in_a_row():
    """Not after two with an ACK between them, and not below the lowest rate."""
    assert rates_after("-+-+") == [11.0] * 4
    assert rates_after("--------") == [11.0, 5.5, 5.5, 2.0, 2.0, 1.0, 1.0, 1.0]


def test_the_rate_rises_after_ten_acks_and_falls_again_at_once_if_the_first_attempt_fails():
    """After an ACK at the new rate two failures are needed again. It never exceeds data_mbps."""
    assert rates_after("--" + 10 * "+" + "-")[-2:] == [11.0, 5.5]
    assert rates_after("--" + 10 * "+" + "+-")[-2:] == [11.0, 11.0]
    assert max(rates_after(40 * "+", MacParameters(model="dcf", rate_control="arf", data_mbps=2.0))) == 2.0


def test_the_rate_also_rises_after_fifteen_transmissions():
    """With a failure in between, so that there are no ten ACKs in a row."""
    rates = rates_after("--" + "+++++-+++++++-+++++")
    assert rates.index(11.0, 2) == 2 + 14


@pytest.mark.parametrize("policy", ["always-on", "psm"])
def test_an_errorless_link_keeps_its_rate(policy):
    """One station does not collide with itself often enough: twice in a row."""
    page = Page(1.0, 200_000, (), (300,), (0.0,))
    times = []
    for control in ("constant", "arf"):
        keys = {"mac.model": "dcf", "mac.rate_control": control, "tcp.delayed_ack_ms": 0.0}
        world = build_world(load_topology("three-node", keys), make_policy(policy))
        world.run([page])
        times.append(world.visits[0][0].ended_s)
    assert times[1] == pytest.approx(times[0], rel=0.03)


def test_errors_lower_the_rate():
    """At 30 % of errors the rate is often low, so that a page takes longer than at a constant rate."""
    times = []
    for control in ("constant", "arf"):
        keys = {"mac.model": "dcf", "mac.rate_control": control, "mac.frame_error_rate": 0.3}
        world = build_world(load_topology("three-node", keys), make_policy("always-on"))
        world.run([Page(1.0, 200_000, (), (300,), (0.0,))])
        times.append(world.visits[0][0].ended_s - world.visits[0][0].started_s)
    assert times[1] > 1.2 * times[0]


def test_a_capture_refuses_a_rate_that_changes():
    """Its frames would have the wrong rate."""
    with pytest.raises(InputError, match=r"^--capture requires mac.rate_control=constant, got arf"):
        captured("psm", pages=1, mac__model="dcf", mac__rate_control="arf")
    assert not isinstance(make_data_rate(MacParameters()), RateFallback)
