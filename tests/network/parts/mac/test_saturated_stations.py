"""Saturated stations, compared with Bianchi's model and hand-computed cases."""

from __future__ import annotations

import pytest

from psm_sim.network.parts.frame_timing import FrameTiming
from psm_sim.network.topology_sections import MacParameters
from tests.network.parts.mac.saturated import run_saturated, saturation_mbps


@pytest.mark.parametrize("stations", [1, 5, 10, 20])
@pytest.mark.parametrize(("standard", "seconds"), [("802.11b", 12.0), ("802.11n", 3.0)])
def test_saturation_throughput_agrees_with_bianchis_model(standard, seconds, stations):
    """The tolerance is 5 %; the sampling error of the mean is about 1 %."""
    mac = MacParameters(standard=standard)
    expected = saturation_mbps(stations, FrameTiming(mac), 1500)
    assert run_saturated(stations, mac, 1500, seconds).mbps == pytest.approx(expected, rel=0.05)


def test_a_single_station_waits_for_its_mean_backoff_and_never_collides():
    """A frame of 1500 B takes 1949 us: AIFS 70, 15.5 slots of 20, data 1311, SIFS 10 and ACK 248."""
    result = run_saturated(1, MacParameters(), 1500, 12.0)
    assert result.collisions == result.dropped == 0
    assert result.mbps == pytest.approx(8 * 1500 / 1949, rel=0.01)
    assert saturation_mbps(1, FrameTiming(MacParameters()), 1500) == pytest.approx(8 * 1500 / 1949, rel=1e-9)


def test_all_stations_get_equal_shares_of_the_channel_and_few_frames_are_lost():
    """Jain's index of 10 stations; with a retry limit of 7 a frame is lost once in thousands."""
    result = run_saturated(10, MacParameters(), 1500, 12.0)
    shares = result.arrived
    assert sum(shares) ** 2 / (10 * sum(share**2 for share in shares)) > 0.98
    assert 0 <= result.dropped < 0.002 * sum(shares)
    assert result.collisions > 500


def test_without_retries_every_collision_loses_its_frames():
    """The contention window stays at its minimum."""
    result = run_saturated(5, MacParameters(), 1500, 5.0, retry_limit=0)
    assert result.dropped >= 2 * result.collisions > 0
