"""Captures: all formats give the same packets, as in tshark; a damaged file is an error."""

from __future__ import annotations

import gzip
import struct

import pytest

from psm_sim.common.errors import InputError
from psm_sim.workload.recordings.capture.capture_files import frames_of
from psm_sim.workload.recordings.capture.packet_capture import read_capture
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from tests.workload.recordings.captures import (
    FRAMES,
    SERVER,
    STATION,
    block,
    enhanced,
    ethernet,
    interface,
    packet,
    pcap,
    section,
)

FOREVER_S = 1_000_000
PACKET = packet()


@pytest.fixture
def save(tmp_path):
    """Return a function that writes bytes to a file and returns its path."""

    def write(data, name="x.pcap"):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("hosts", [(STATION, SERVER), ("fd00::2", "2001:db8::1")], ids=["IPv4", "IPv6"])
def test_the_same_packet_is_read_under_every_link_layer(save, name, hosts):
    """Address, length, ports and TCP header are equal, whatever precedes the IP header."""
    link, frame = FRAMES[name]
    source, target = hosts
    ip = packet(source, target, payload=77, protocol=6, ports=(5000, 80), sequence=9)
    capture = read_capture(save(pcap([(FOREVER_S, frame(ip))], link)), hosts[0])
    row = capture.rows[0]
    assert (row["length"], row["source_port"], row["target_port"]) == (len(ip), 5000, 80)
    assert (row["sequence"], row["payload"], row["protocol"], row["flags"]) == (9, 77, 6, 0x10)
    assert capture.uplink.tolist() == [True]
    assert {address for address, _ in capture.others} == set(hosts)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("nano", [False, True])
def test_the_times_of_a_pcap_file_are_read_in_either_unit_and_either_byte_order(save, order, nano):
    """Times have the precision of the file."""
    times = [FOREVER_S, FOREVER_S + 0.000001, FOREVER_S + 2.75]
    capture = read_capture(save(pcap([(at_s, ethernet(PACKET)) for at_s in times], 1, order, nano)))
    assert (capture.rows["time_ns"] - FOREVER_S * 10**9).tolist() == [0, 1000, 2_750_000_000]
    assert capture.at_s.tolist() == [0.0, 1e-6, 2.75]


@pytest.mark.parametrize("snap", [34, 42, 60])
def test_a_snap_length_does_not_change_the_packet_lengths(save, snap):
    """The length is that of the whole packet, however few bytes were captured."""
    (frame,) = frames_of(ChunkReader(save(pcap([(FOREVER_S, ethernet(PACKET))], snap=snap))))
    assert (frame.length, len(frame.data)) == (14 + len(PACKET), snap)
    capture = read_capture(save(pcap([(FOREVER_S, ethernet(PACKET))], snap=snap)))
    assert capture.rows["length"].tolist() == [len(PACKET)]
    assert capture.rows["source_port"].tolist() == [1000 if snap >= 38 else 0]


def test_a_packet_whose_header_was_not_captured_is_omitted_with_a_warning(save):
    short = pcap([(FOREVER_S, ethernet(PACKET)[:30])])[24:]
    capture = read_capture(save(pcap([(FOREVER_S, ethernet(PACKET))]) + short))
    assert capture.rows.size == 1
    assert "1 of 2 frames have no readable IP packet" in capture.warnings[0]


@pytest.mark.parametrize(
    ("resolution", "per_second"),
    [(None, 10**6), (3, 10**3), (6, 10**6), (9, 10**9), (12, 10**12), (0x8A, 2**10), (0xA0, 2**32)],
)
@pytest.mark.parametrize("order", "<>")
def test_the_times_of_a_pcapng_file_are_read_in_the_unit_of_their_interface(
    save, resolution, per_second, order
):
    """Units are powers of ten and of two; an offset is in seconds."""
    ticks = 1700 * per_second + per_second // 4
    data = section(order) + interface(1, order, resolution, offset_s=50)
    data += enhanced(ethernet(PACKET), ticks, 0, order)
    capture = read_capture(save(data))
    assert capture.rows["time_ns"].tolist() == [1_750_250_000_000]


def test_pcapng_sections_and_interfaces_are_read_and_other_blocks_are_skipped(save):
    """The two sections differ in byte order. One block is obsolete, and one has no time."""
    frame = ethernet(PACKET)
    raw = packet(payload=5)
    old = struct.pack("<HHIIII", 1, 7, 0, 3_000_000, len(packet()), len(packet())) + packet()
    data = section() + interface() + interface(101) + block(0x80000001, b"anything")
    data += enhanced(frame, 1_000_000) + enhanced(raw, 2_000_000, number=1) + block(2, old)
    data += block(3, struct.pack("<I", len(frame)) + frame)
    data += section(">") + interface(101, ">") + enhanced(PACKET, 4_000_000, 0, ">", length=999)
    capture = read_capture(save(data, "x.pcapng"))
    assert capture.format == "pcapng capture"
    assert (capture.rows["time_ns"] // 10**9).tolist() == [1, 2, 3, 4]
    assert capture.rows["length"].tolist() == [len(PACKET), len(raw), len(PACKET), len(PACKET)]
    assert capture.warnings == ("packets without a time were omitted: 1",)


@pytest.mark.parametrize("form", ["pcap", "pcapng"])
def test_reading_a_truncated_file_gives_its_first_packets_or_an_error(save, form):
    frames = [ethernet(packet(payload=10)) for _ in range(3)]
    whole = pcap([(FOREVER_S + k, frame) for k, frame in enumerate(frames)])
    if form == "pcapng":
        whole = section() + interface() + b"".join(enhanced(each, k) for k, each in enumerate(frames))
    counts = []
    for size in range(4, len(whole)):
        try:
            capture = read_capture(save(whole[:size]))
        except InputError:
            counts.append(0)
        else:
            counts.append(capture.rows.size)
    assert counts == sorted(counts)
    assert set(counts) == {0, 1, 2}


def test_the_warning_for_a_truncated_file_has_the_offset(save):
    """The offset is the first byte of the omitted packet."""
    data = pcap([(FOREVER_S, ethernet(PACKET)), (FOREVER_S + 1, ethernet(PACKET))])
    capture = read_capture(save(data[:-5]))
    assert capture.rows.size == 1
    assert capture.warnings == (
        f"the last packet, at byte {24 + 16 + 14 + len(PACKET)}, is truncated and was omitted",
    )


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            pcap([]) + struct.pack("<IIII", 1, 0, 2**31, 2**31),
            "must have at most 1,048,576 bytes, got 2,147,483,648",
        ),
        (pcap([]), "has no IP packet"),
        (pcap([])[:20], "a pcap header must have 24 bytes, got 20"),
        (pcap([(1, b"x" * 60)], link=147), "link type 147"),
        (section() + struct.pack("<III", 6, 4, 0), "a block length must be .*, got 4,"),
        (section() + struct.pack("<III", 6, 2**31, 0), "a block length must be .*, got 2,147,483,648,"),
        (section() + struct.pack("<II", 6, 33) + bytes(40), "a multiple of 4"),
        (section() + enhanced(ethernet(PACKET), 1), "unknown interface"),
        (section() + interface() + block(6, bytes(8)), "shorter than its header"),
        (b"\x0a\x0d\x0d\x0a" + struct.pack("<II", 28, 7) + bytes(20), "invalid byte-order magic"),
        (pcap([(0, ethernet(PACKET)), (2e9, ethernet(PACKET))]), "packet times must span at most"),
        (pcap([(0, ethernet(packet("224.0.0.1", "239.1.1.1")))]), "only group addressed packets"),
    ],
)
def test_the_error_for_an_unreadable_file_has_the_offset(save, data, words):
    with pytest.raises(InputError, match=words) as caught:
        read_capture(save(data))
    assert "x.pcap" in str(caught.value)


@pytest.mark.parametrize(
    ("pairs", "client"),
    [
        ([("8.8.8.8", "10.0.0.9")] * 3 + [("10.0.0.5", "8.8.8.8")], "10.0.0.9"),
        ([("192.168.0.1", "192.168.0.2")] * 3, "192.168.0.1"),
        ([("172.5.5.5", "8.8.8.8")], "172.5.5.5"),
        ([("8.8.8.8", "172.20.0.1")], "172.20.0.1"),
        ([("10.0.0.1", "224.0.0.251")] * 2, "10.0.0.1"),
        ([("2001:db8::1", "fe80::2")], "fe80::2"),
    ],
)
def test_the_client_is_taken_to_be_the_busiest_private_address(save, pairs, client):
    """The first to send is chosen of equally busy ones.

    Without private addresses it is the busiest of all.
    """
    frames = [(FOREVER_S + k, ethernet(packet(*pair))) for k, pair in enumerate(pairs)]
    assert read_capture(save(pcap(frames))).client == client


def test_the_error_for_an_unknown_client_lists_the_clients(save):
    path = save(pcap([(FOREVER_S, ethernet(PACKET))]))
    with pytest.raises(InputError, match=r"expected one of 10\.0\.0\.2"):
        read_capture(path, "10.0.0.3")
    with pytest.raises(InputError, match="client must be an IP address, got 'me'"):
        read_capture(path, "me")


def test_packets_that_are_out_of_order_are_sorted_by_time(save):
    """Packets with equal times stay in the order of the file."""
    times, sizes = [2, 1, 1, 3], [1, 2, 3, 4]
    frames = [
        (FOREVER_S + at_s, ethernet(packet(payload=size))) for at_s, size in zip(times, sizes, strict=True)
    ]
    capture = read_capture(save(pcap(frames)))
    assert (capture.rows["length"] - 28).tolist() == [2, 3, 1, 4]


def test_fragments_after_the_first_have_no_ports(save):
    """The first bytes of a later fragment are payload."""
    ip = bytearray(packet(ports=(7, 8)))
    ip[6:8] = struct.pack(">H", 185)
    capture = read_capture(save(pcap([(FOREVER_S, ethernet(bytes(ip)))])))
    assert (capture.rows["source_port"][0], capture.rows["protocol"][0]) == (0, 17)


def test_a_packet_with_a_length_of_0_is_as_long_as_its_frame(save):
    """A network interface may segment such a packet later."""
    ip = bytearray(packet(payload=3000))
    ip[2:4] = b"\0\0"
    capture = read_capture(save(pcap([(FOREVER_S, ethernet(bytes(ip)))])))
    assert capture.rows["length"].tolist() == [len(ip)]


def test_a_frame_whose_declared_length_is_below_its_captured_length_is_read(save):
    """An IPv6 packet with a length of 0 extends to the end of the captured bytes."""
    frame = bytearray(ethernet(packet("fe80::1", "fe80::2")))
    frame[18:20] = b"\0\0"
    data = bytearray(pcap([(FOREVER_S, bytes(frame))]))
    data[36:40] = struct.pack("<I", 5)
    assert read_capture(save(bytes(data))).rows["length"].tolist() == [len(frame) - 14]


def test_the_same_packets_are_read_from_a_gzipped_capture(save):
    data = pcap([(FOREVER_S + k, ethernet(PACKET)) for k in range(50)])
    plain, packed = save(data), save(gzip.compress(data[:500]) + gzip.compress(data[500:]), "x.pcap.gz")
    assert (read_capture(plain).rows == read_capture(packed).rows).all()
