"""A-MPDUs of 802.11n: hand-computed durations, limits, and delivered frames."""

from __future__ import annotations

from math import ceil

import pytest

from psm_sim.network.segment import Segment
from psm_sim.policies import make_policy
from tests.network.parts.mac.air_bench import AirBench

N = {"mac.standard": "802.11n"}
SIFS_US, RTS_US, BLOCK_ACK_US = 10, 20 + 2 * 4 + 6, 20 + 3 * 4 + 6  # two and three symbols at 24 Mbit/s


def ampdu_us(frames, size=1500):
    """Return the duration of an A-MPDU at 65 Mbit/s in us, with delimiters of 4 B and headers of 38 B."""
    mpdu = size + 38
    size = (frames - 1) * (4 + ceil(mpdu / 4) * 4) + 4 + mpdu
    return 36 + 4 * ceil((16 + 8 * size + 6) / 260) + 6


class Station:
    """Awake station with a record of its frames in both directions."""

    def __init__(self, stations=1, **settings):
        policies = [make_policy("always-on")] * stations
        self.bench = AirBench(*policies, **N, **settings)
        self.arrived: list[list[Segment]] = [[] for _ in policies]
        self.received: list[list[Segment]] = [[] for _ in policies]
        self.sent: list[list[Segment]] = [[] for _ in policies]
        self.forwarded: list[list[Segment]] = [[] for _ in policies]
        for number, hop in enumerate(self.bench.hops):
            hop.up.deliver = self.arrived[number].append
            receive = hop.down.deliver

            def deliver(segment, number=number, receive=receive):
                self.received[number].append(segment)
                receive(segment)

            hop.down.deliver = deliver

    def send(self, count, time_s=0.15, size=1500, number=0):
        """Schedule *count* simultaneous uplink packets of a station."""
        for _ in range(count):
            segment = self.bench.frame(size)
            self.sent[number].append(segment)
            self.bench.at(time_s, lambda segment=segment: self.bench.stations[number].send(segment))

    def forward(self, count, time_s=0.15, size=1500, number=0):
        """Schedule *count* simultaneous packets for a station at the access point."""
        for _ in range(count):
            segment = self.bench.frame(size)
            self.forwarded[number].append(segment)
            self.bench.at(time_s, lambda segment=segment: self.bench.ports[number].forward(segment))


def ppdus(frames):
    """Return the number of frames and the duration in us of each transmission."""
    spans = list(dict.fromkeys(frames))
    return [(frames.count(span), round(1000 * (span[1] - span[0]))) for span in spans]


@pytest.mark.parametrize("direction", ["up", "down"])
def test_queued_frames_share_a_preamble_and_a_block_ack(direction):
    """A duration of 5.484 ms has space for 28 full packets."""
    station = Station()
    (station.send if direction == "up" else station.forward)(40)
    seen = station.bench.run()
    sent = ppdus(getattr(seen, direction))
    assert sent == [(28, ampdu_us(28)), (12, ampdu_us(12))]
    passed = station.arrived[0] if direction == "up" else station.received[0]
    assert passed == (station.sent[0] if direction == "up" else station.forwarded[0])


@pytest.mark.parametrize(
    ("settings", "size", "most"),
    [
        ({"mac.ampdu_bytes": 8000}, 1500, 5),  # 5 x 1544 B - 2 B
        ({"mac.ppdu_ms": 1.0}, 1500, 5),  # 1542 B take 190 us
        ({"mac.block_ack_window": 4}, 1500, 4),
        ({}, 100, 64),
        ({"mac.ampdu_bytes": 0}, 1500, 1),
        ({"mac.data_mbps": 6.5}, 1500, 2),  # 4.4 kB in 5.484 ms
    ],
)
def test_an_ampdu_is_as_long_as_its_limits_allow(settings, size, most):
    """The limits are of bytes, time and frames."""
    station = Station(**settings)
    station.send(200, size=size)
    seen = station.bench.run()
    counts = [count for count, _ in ppdus(seen.up)]
    assert max(counts) == most
    assert set(counts[1:-1]) == {most}
    assert station.arrived[0] == station.sent[0]


def test_an_rts_precedes_frames_above_the_threshold():
    """The sequence is RTS, SIFS, CTS and SIFS; a single packet of 700 B is below the threshold."""
    station = Station(**{"mac.rts_bytes": 1000})
    station.send(1, size=700)
    station.send(1, time_s=0.16)
    seen = station.bench.run()
    (_, short), (_, long) = ppdus(seen.up)
    alone = 36 + 4 * ceil((22 + 8 * 1538) / 260) + 6
    assert short == pytest.approx(36 + 4 * ceil((22 + 8 * 738) / 260) + 6, abs=1)
    cts = 20 + 4 * ceil((22 + 8 * 14) / 96) + 6
    assert long == pytest.approx(RTS_US + 2 * SIFS_US + cts + alone, abs=1)


@pytest.mark.parametrize("requests", [True, False])
def test_a_collision_loses_the_whole_ampdu(requests):
    """Both stations repeat their A-MPDU, after a block ack request or at once."""
    station = Station(2, **{"mac.block_ack_request": requests})
    station.bench.bss.timing.cw_min = 1
    for number in (0, 1):
        station.send(57, number=number)
    station.bench.run()
    assert station.bench.bss.channel.collisions >= 1
    assert station.arrived == station.sent


LOSSY = [
    {"mac.frame_error_rate": 0.2},
    {"mac.frame_error_rate": 0.2, "mac.block_ack_request": False},
    {"mac.frame_error_rate": 0.5, "mac.block_ack_window": 8},
    {"mac.frame_error_rate": 0.3, "mac.rts_bytes": 2000},
    {"mac.frame_error_rate": 0.8, "mac.loss_run": 10.0},
]


@pytest.mark.parametrize("settings", LOSSY)
def test_every_frame_arrives_once_and_in_order_or_is_lost(settings):
    """An error loses a frame and not its A-MPDU; a frame at the retry limit is dropped."""
    station = Station(2, **settings)
    for number in (0, 1):
        for burst in range(20):
            station.send(30, time_s=0.15 + 0.05 * burst, number=number)
            station.forward(30, time_s=0.15 + 0.05 * burst, number=number)
    station.bench.run(60.0)
    for number, hop in enumerate(station.bench.hops):
        port = station.bench.ports[number]
        for sent, passed, lost in (
            (station.sent[number], station.arrived[number], hop.up.lost_bytes // 1500),
            (station.forwarded[number], station.received[number], port.dropped_frames),
        ):
            positions = {segment: position for position, segment in enumerate(sent)}
            order = [positions[segment] for segment in passed]
            assert order == sorted(set(order))
            assert len(passed) + lost == len(sent)
            assert len(passed) > 50
        assert not [*hop.up.queue, *hop.down.queue]
    assert station.bench.stations[0]._radio._awaited == 0


def test_frame_errors_drop_single_frames_of_an_ampdu_rather_than_the_whole_ampdu():
    """Nearly every A-MPDU has an error at a rate of 10 %, and still nine of ten frames arrive."""
    clean, lossy = Station(), Station(**{"mac.frame_error_rate": 0.1})
    for station in (clean, lossy):
        station.send(2000, time_s=0.1)
        station.bench.run(0.4)
    assert 0.75 < len(lossy.arrived[0]) / len(clean.arrived[0]) < 0.92


def test_a_station_sends_one_block_ack_per_downlink_ampdu():
    """The block ack takes 38 us, three symbols at 24 Mbit/s."""
    station = Station(**{"power.transmit_w": 1.0})
    station.forward(28)
    station.bench.run()
    assert station.bench.ledgers[0].usage(1.0).transmit_s == pytest.approx(BLOCK_ACK_US * 1e-6)


def test_the_transmit_energy_covers_the_rts_and_the_ampdu():
    """The energy is that of both frames."""
    for settings, rts_us in (({}, 0), ({"mac.rts_bytes": 2000}, RTS_US)):
        station = Station(**{"power.transmit_w": 1.0}, **settings)
        station.send(28)
        station.bench.run()
        transmit_s = station.bench.ledgers[0].usage(1.0).transmit_s
        assert transmit_s == pytest.approx((rts_us + ampdu_us(28)) * 1e-6)
