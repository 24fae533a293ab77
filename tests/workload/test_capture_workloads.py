"""Workloads that replay the packets of captures."""

from __future__ import annotations

import json

import numpy as np
import pytest

from psm_sim.cli import main
from psm_sim.common.errors import InputError
from psm_sim.policies import Frame, Policy, Rest
from psm_sim.simulation import simulate
from psm_sim.workload import load_workload
from psm_sim.workload.page_view import Pause
from tests.every_beacon import run_both
from tests.page_rows import check_bytes_are_conserved
from tests.workload.recordings.captures import SERVER, STATION, ethernet, packet, pcap

START_S = 1_000_000
SYN, RST, ACK, FIN = 2, 4, 0x10, 0x11


def tcp(at_s, up, sequence, payload, flags=ACK, port=5000, options=b""):
    """Return the time and the frame of a segment, from the station (up) or to it."""
    ends, ports = ((STATION, SERVER), (port, 80)) if up else ((SERVER, STATION), (80, port))
    return START_S + at_s, ethernet(packet(*ends, payload, 6, ports, sequence, flags, options))


def udp(at_s, up, payload=100):
    """Return the time and the frame of a datagram."""
    ends = (STATION, SERVER) if up else (SERVER, STATION)
    return START_S + at_s, ethernet(packet(*ends, payload))


CONVERSATION = [
    tcp(0.000, True, 99, 0, SYN),
    tcp(0.020, False, 499, 0, SYN | ACK),
    tcp(0.021, True, 100, 200),
    tcp(0.400, False, 500, 1000),
    tcp(0.410, False, 1500, 1000),
    tcp(3.560, True, 300, 80),
    tcp(3.700, False, 2500, 20),
    tcp(3.710, False, 2520, 0, FIN),
]


@pytest.fixture
def save(tmp_path):
    """Return a function that writes frames as a capture and returns its path as text."""

    def write(frames):
        path = tmp_path / "own.pcap"
        path.write_bytes(pcap(frames))
        return str(path)

    return write


def test_open_loop_replay_sends_each_packet_at_its_recorded_time(save):
    """Packets in both directions are bit-for-bit equal with phase_s=0; the workload has no pages."""
    frames = [udp(0, True), udp(0.25, False, 500), udp(7.5, False, 10)]
    workload = load_workload(f"{save(frames)}:phase_s=0", 10, 1)
    packets = [
        (message.at_s, message.bytes, message.uplink, message.connection) for message in workload.messages
    ]
    assert packets == [(0.0, 128, True, -1), (0.25, 528, False, -1), (7.5, 38, False, -1)]
    assert workload.messages.at_access_point
    assert workload.pages == (Pause(8.5),)
    phased = load_workload(f"{save(frames)}", 10, 1)
    assert 0 < phased.messages[0].at_s < 0.1
    assert np.diff(phased.messages.at_s) == pytest.approx([0.25, 7.25])
    assert load_workload(f"{save(frames)}", 10, 2).messages != phased.messages


def test_open_loop_replay_sends_the_packets_of_the_selected_directions_and_pages(save):
    """A stretch counts as a page; packets after the last requested one are omitted."""
    trace = save([udp(k / 2, k % 3 == 0) for k in range(20)])
    for directions, count in (("down", 13), ("up", 7), ("both", 20)):
        assert len(load_workload(f"{trace}:directions={directions}", 1, 1).messages) == count
    cut = load_workload(f"{trace}:stretch_s=2,phase_s=0", 3, 1)
    assert (len(cut.pages), len(cut.messages), cut.messages[-1].at_s) == (3, 12, 5.5)


def test_a_packet_larger_than_a_frame_is_segmented(save):
    """The number of bytes is conserved."""
    workload = load_workload(f"{save([udp(0, True, 3572), udp(1, True, 1472)])}", 1, 1)
    assert [message.bytes for message in workload.messages] == [1500, 1500, 600, 1500]


OPTIONS = {
    0: b"",
    1460: b"\x02\x04\x05\xb4",
    1448: b"\x02\x04\x05\xb4\x04\x02\x08\x0a" + bytes(8) + b"\x01\x03\x03\x07",
    1240: b"\x01\x01\x02\x04\x04\xd8\x00\x00",
}
"""Options of a SYN by the segment size that they state: of macOS, of Linux, with padding, or none."""


class Recording(Policy):
    """Static PSM that records the frames sent and received."""

    name = "recording"

    def start(self, beacon_s):
        """Start without frames."""
        super().start(beacon_s)
        self.frames = []

    def rest(self, now_s, since_uplink_s, poll):
        """Receive every beacon."""
        return Rest()

    def sent(self, now_s, frame):
        """Record a frame sent."""
        self.frames.append(("up", frame))

    def received(self, now_s, frame):
        """Record a frame received."""
        self.frames.append(("down", frame))


@pytest.mark.parametrize("mss", OPTIONS)
def test_the_policy_gets_the_headers_of_each_packet_in_open_loop_replay(save, mss):
    """A header has connection, payload, SYN with the size of a full segment, and FIN or RST."""
    frames = [
        tcp(0.0, True, 99, 0, SYN, options=OPTIONS[mss]), tcp(0.2, False, 7, 0, SYN | ACK),
        udp(0.3, True), tcp(0.4, True, 100, 300), tcp(0.6, False, 8, 1000), tcp(0.8, False, 1008, 0, FIN),
        tcp(1.0, True, 400, 0, RST | ACK),
    ]  # fmt: skip
    frames_seen = simulate(Recording(), save(frames)).policy_state.frames
    size = 40 + len(OPTIONS[mss])
    assert frames_seen == [
        ("up", Frame(0, size, 0, True, False, mss)), ("down", Frame(0, 40, 0, True, False)),
        ("up", Frame(-1, 128, 100, False, False)), ("up", Frame(0, 340, 300, False, False)),
        ("down", Frame(0, 1040, 1000, False, False)), ("down", Frame(0, 40, 0, False, True)),
        ("up", Frame(0, 40, 0, False, True)),
    ]  # fmt: skip


def test_connections_are_numbered_in_the_order_in_which_they_open(save):
    """A repeated SYN belongs to its connection; a different SYN on the same ports opens another one."""
    frames = [
        tcp(0.0, True, 5, 10, port=9), tcp(0.1, True, 9, 0, SYN, port=2), tcp(0.2, True, 7, 0, SYN, port=1),
        tcp(0.3, True, 9, 0, SYN, port=2), tcp(0.4, False, 3, 0, SYN | ACK, port=1), udp(0.5, False),
        tcp(0.6, True, 8, 10, port=1), tcp(0.7, True, 99, 0, SYN, port=2), tcp(0.8, False, 1, 10, port=9),
        tcp(0.9, True, 77, 0, SYN, port=9), tcp(1.0, False, 1, 10, port=9),
    ]  # fmt: skip
    messages = load_workload(save(frames), 1, 1).messages
    assert [message.flow for message in messages] == [0, 1, 2, 1, 2, -1, 2, 3, 0, 4, 4]


@pytest.mark.parametrize(
    ("payload", "parts"), [(2920, [1460, 1460]), (3000, [1460, 1460, 80]), (1460, [1460])]
)
def test_a_segment_larger_than_a_frame_is_split_into_parts_with_their_payloads(save, payload, parts):
    """Network interfaces segment likewise; only the last part has the FIN."""
    messages = load_workload(save([tcp(0, False, 1, payload, FIN)]), 1, 1).messages
    assert [message.payload for message in messages] == parts
    assert [message.fin for message in messages] == [False] * (len(parts) - 1) + [True]


def test_under_static_psm_each_packet_of_an_open_loop_replay_waits_for_the_next_beacon(save):
    """Packets at 30 and 250 ms are announced at 100 and 300 ms; uplink packets do not wait."""
    trace = f"{save([udp(0, True), udp(0.03, False), udp(0.25, False)])}:phase_s=0"
    messages = simulate("psm", trace).blocks[0].messages
    air_s = 128 * 8 / 5e6 + 1e-4
    assert messages["down"][2].tolist() == pytest.approx([0.07 + air_s, 0.05 + air_s])
    assert messages["up"][2].tolist() == pytest.approx([air_s + 128 * 8 / 10e6 + 0.02])
    awake = simulate("always-on", trace).blocks[0].messages
    assert awake["down"][2].tolist() == pytest.approx([air_s, air_s])


@pytest.mark.parametrize("policy", ["psm", "bsd:p=0.5", "lpsm"])
def test_bytes_are_conserved_in_a_replay(save, policy):
    """Packets that enter at the access point count as sent; an event per beacon changes nothing."""
    trace = save(CONVERSATION)
    one, full = run_both(policy, trace)
    check_bytes_are_conserved(one)
    rows = [{**result.row, "wall_s": 0, "events": 0} for result in (one, full)]
    assert repr(rows[0]) == repr(rows[1])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("workload=sample", "no pages; for pages, use a HAR file"),
        ("client=me", "IP address"),
    ],
)
def test_an_invalid_parameter_is_an_error(save, text, words):
    with pytest.raises(InputError, match=r"own\.pcap") as caught:
        load_workload(f"{save(CONVERSATION)}:{text}", 1, 1)
    assert words in str(caught.value)


def test_trace_info_describes_the_packets(save, capsys):
    assert main(["trace", "info", save(CONVERSATION)]) == 0
    out = capsys.readouterr().out
    for words in ("pcap capture", STATION, "down, between s", "TCP 8, UDP 0"):
        assert words in out


@pytest.mark.parametrize(("command", "target"), [("convert", "x.csv"), ("fit", "x.toml")])
def test_trace_commands_that_need_pages_reject_captures(save, tmp_path, capsys, command, target):
    assert main(["trace", command, save(CONVERSATION), "--to", str(tmp_path / target)]) == 2
    assert (
        "own.pcap: a capture has messages but no pages; for pages, use a HAR file." in capsys.readouterr().err
    )
    assert not (tmp_path / target).exists()


def test_the_client_of_a_capture_can_be_chosen(save, capsys):
    trace = save(CONVERSATION)
    assert main(["--trace", f"{trace}:client={SERVER}", "--policy", "psm", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["trace_parameters"]["client"] == SERVER
