"""RFC 6298."""

from __future__ import annotations

import pytest

from psm_sim.network.tcp_constants import TcpConstants
from psm_sim.network.tcp_sender import RetransmissionTimeout
from psm_sim.network.topology_sections import TcpParameters


def test_the_timeout_is_a_second_before_any_sample():
    """RFC 6298, 2.1."""
    assert RetransmissionTimeout(TcpConstants(TcpParameters())).seconds == 1.0


def test_the_first_sample_sets_estimate_and_half_of_it_as_variation():
    """RFC 6298, 2.2: R + 4 R/2 = 3 R."""
    timeout = RetransmissionTimeout(TcpConstants(TcpParameters(min_rto_ms=1.0)))
    timeout.sample(0.4)
    assert timeout.seconds == pytest.approx(1.2)


def test_later_samples_are_smoothed():
    """RFC 6298, 2.3, worked by hand for 0.4 then 0.8 s."""
    timeout = RetransmissionTimeout(TcpConstants(TcpParameters(min_rto_ms=1.0)))
    timeout.sample(0.4)
    timeout.sample(0.8)
    variation = 0.75 * 0.2 + 0.25 * 0.4
    assert timeout.seconds == pytest.approx((0.875 * 0.4 + 0.125 * 0.8) + 4 * variation)


def test_the_least_timeout_holds():
    """A short round trip does not bring it under the minimum of 1 s."""
    timeout = RetransmissionTimeout(TcpConstants(TcpParameters()))
    timeout.sample(0.04)
    assert timeout.seconds == 1.0


def test_each_expiry_doubles_it_up_to_the_largest():
    """RFC 6298, 5.5, and 2.5's ceiling of 60 s."""
    timeout = RetransmissionTimeout(TcpConstants(TcpParameters()))
    seen = []
    for _ in range(8):
        timeout.back_off()
        seen.append(timeout.seconds)
    assert seen == [2, 4, 8, 16, 32, 60, 60, 60]
