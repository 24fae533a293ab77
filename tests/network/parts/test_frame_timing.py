"""Air times, computed by hand from the clauses of 802.11."""

from __future__ import annotations

import pytest

from psm_sim.common.errors import InputError
from psm_sim.network.parts.frame_timing import FrameTiming
from psm_sim.network.topology_sections import RATES_MBPS, MacParameters


def us(seconds):
    return round(1e6 * seconds, 3)


def test_an_802_11b_frame_of_full_size_takes_the_time_of_its_preamble_and_bits():
    """The preamble takes 192 us. 1500 B with 38 B of headers take 1538 * 8 / 11 = 1118.5 us, rounded up."""
    timing = FrameTiming(MacParameters())
    assert us(timing.data_s(1500)) == 192 + 1119
    assert us(timing.ack_s) == 192 + 14 * 8 / 2
    assert us(timing.poll_s) == 192 + 15
    assert us(timing.beacon_s) == 192 + 84 * 8
    assert us(timing.timeout_s) == 10 + 20 + 192
    assert us(timing.eifs_s) == 10 + 192 + 14 * 8
    assert (timing.cw_min, timing.first_slots) == (31, 3)


def test_no_short_preamble_is_used_at_1_mbps():
    """802.11-2020, 16.2.2: the short preamble has its header at 2 Mbit/s."""
    timing = FrameTiming(MacParameters(preamble="short"))
    assert us(timing.data_s(1500)) == 96 + 1119
    assert us(timing.eifs_s) == 10 + 192 + 14 * 8


def test_an_802_11g_frame_takes_a_whole_number_of_4_us_symbols():
    """The 16 + 8 * 1538 + 6 bits take 58 symbols of 216. The preamble takes 20 us and the extension 6 us."""
    timing = FrameTiming(MacParameters(standard="802.11g"))
    assert us(timing.data_s(1500)) == 20 + 58 * 4 + 6
    assert us(timing.ack_s) == 20 + 2 * 4 + 6
    assert (us(timing.slot_s), us(timing.sifs_s), timing.cw_min) == (9, 10, 15)


def test_an_802_11n_frame_has_a_longer_preamble():
    """12,326 bits at 260 per symbol are 48 symbols; the ACK is one of 802.11g."""
    timing = FrameTiming(MacParameters(standard="802.11n", qos=False))
    assert us(timing.data_s(1502)) == 36 + 48 * 4 + 6
    assert us(timing.ack_s) == 34
    assert timing.first_slots == 2


def test_beacons_of_2_4_ghz_are_sent_at_1_mbps_with_the_preamble_of_802_11b():
    """The size of a beacon is that of its elements; a rate of OFDM has the format of 802.11g."""
    times = [us(FrameTiming(MacParameters(standard=standard)).beacon_s) for standard in RATES_MBPS]
    assert times == [192 + 84 * 8, 192 + 97 * 8, 192 + 149 * 8]
    fast = FrameTiming(MacParameters(standard="802.11n", beacon_mbps=6.0, beacon_bytes=80))
    assert us(fast.beacon_s) == 20 + 28 * 4 + 6
    with pytest.raises(InputError, match=r"beacon_mbps must be a rate of 802.11g \(1, 2, 5.5, 6, 9, 11, 12"):
        MacParameters(standard="802.11g", beacon_mbps=7.0)


@pytest.mark.parametrize("standard", RATES_MBPS)
def test_a_higher_data_rate_makes_neither_data_frames_nor_acks_slower(standard):
    """The rates are all those of the standard."""
    timings = [FrameTiming(MacParameters(standard=standard, data_mbps=rate)) for rate in RATES_MBPS[standard]]
    times_s = [timing.data_s(1500) for timing in timings]
    assert times_s == sorted(times_s, reverse=True)
    acks_s = [timing.ack_s for timing in timings]
    assert acks_s == sorted(acks_s, reverse=True)
    assert len(set(acks_s)) > 1


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"data_mbps": 54.0}, "mac: data_mbps must be a rate of 802.11b \\(1, 2, 5.5, 11\\), got 54."),
        ({"model": "csma"}, "mac: model must be one of link, dcf, got 'csma'"),
    ],
)
def test_a_rate_that_the_standard_does_not_define_is_an_error(keys, message):
    """The message has the value and the valid rates."""
    with pytest.raises(InputError, match=message):
        MacParameters(**keys)
