"""Captures as tshark reads them: nothing malformed, no wrong checksum, and TCP as it was."""

from __future__ import annotations

from typing import Any

import pytest

from tests.network.parts.capture.sniffed import beacons_of, captured, frames_of, needs_tshark, tshark

pytestmark = needs_tshark

ODD = (
    "_ws.malformed || (tcp && tcp.checksum.status != 1) || (udp && udp.checksum.status != 1)"
    " || (ip && ip.checksum.status != 1)"
)
AGAIN = (
    "tcp.analysis.retransmission || tcp.analysis.fast_retransmission || tcp.analysis.out_of_order"
    " || tcp.analysis.spurious_retransmission"
)
TROUBLE = (
    f"{AGAIN} || tcp.analysis.duplicate_ack || tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment"
)
SLOW = {"beacon__interval_ms": 800}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "pages": ("psm", {"pages": 10}),
    "doing without null frames": ("bsd:p=0.5", {"access_point__late_frames": "wait"}),
    "headers with options": ("psm", {"tcp__header_bytes": 52}),
    "windows that need a scale": ("psm", {"topology": "modern", "pages": 2}),
    "datagrams": ("psm", {"trace": "ping", "pages": 1, "access_point__group_per_s": 1, **SLOW}),
    "standing connections": ("psm", {"trace": "mqtt", "pages": 1, **SLOW}),
}


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_malformed_no_checksum_wrong_and_nothing_sent_again_where_nothing_is_lost(case, tmp_path):
    """Neither in pages, nor in datagrams, group frames, options or large windows."""
    policy, settings = CASES[case]
    world, _, data = captured(policy, **settings)
    assert world.client.retransmissions + world.server.retransmissions == 0
    assert tshark(data, tmp_path, f"{ODD} || {TROUBLE}", "frame.number", "_ws.col.Info") == []
    assert len(frames_of(data, "data")) > 50


@pytest.mark.parametrize("case", ["pages", "datagrams", "standing connections"])
def test_the_bytes_of_conversations_are_those_of_the_accounts(case, tmp_path):
    """What the client has received to the byte, and what it has sent but for what is still on its way."""
    policy, settings = CASES[case]
    world, log, data = captured(policy, **{**settings, "access_point__group_per_s": 0})
    sums = {"0x0001": 0, "0x0002": 0}
    for ends, size in tshark(data, tmp_path, "ip", "wlan.fc.ds", "ip.len"):
        sums[f"0x{int(ends, 16):04x}"] += int(size)
    not_yet = sum(each.wire_bytes for at_s, each in log.up if at_s > world.env.now)
    assert sums == {"0x0001": world.client.sent_bytes - not_yet, "0x0002": world.client.received_bytes}


def heard_again(world, log):
    """Return when, in ns, what was sent again was heard: behind later bytes, or as the first copy."""
    behind: set[int] = set()
    first: set[int] = set()
    for told in (log.down, log.up):
        highest: dict[object, int] = {}
        for at_s, each in told:
            if at_s > world.env.now:
                continue
            if each in log.again:
                (behind if each.seq < highest.get(each.connection, 0) else first).add(round(at_s * 1e9))
            end = each.seq + each.payload + each.syn + each.fin
            highest[each.connection] = max(end, highest.get(each.connection, 0))
    return behind, first


def nanoseconds(text):
    """Return a time that tshark prints, in ns."""
    seconds, _, part = text.partition(".")
    return int(seconds) * 10**9 + int(part.ljust(9, "0"))


def test_where_frames_are_dropped_tcp_is_seen_to_send_again_exactly_what_was_sent_again(tmp_path):
    """But for what the access point dropped before anything behind it was heard: that looks new."""
    world, log, data = captured("psm", pages=15, access_point__buffer_frames=6)
    seen = {nanoseconds(row[0]) for row in tshark(data, tmp_path, AGAIN, "frame.time_epoch")}
    behind, first = heard_again(world, log)
    assert world.access_point.dropped_frames > 5
    assert len(log.again) == world.client.retransmissions + world.server.retransmissions
    assert len(behind) > len(first)
    assert seen == behind


def test_duplicate_acks_are_those_that_the_station_sent(tmp_path):
    """A bare ACK with the number of the one before, while a gap is open."""
    world, log, data = captured("psm", pages=15, access_point__buffer_frames=6)
    seen = {
        nanoseconds(row[0])
        for row in tshark(data, tmp_path, "tcp.analysis.duplicate_ack", "frame.time_epoch")
    }
    last: dict[object, int] = {}
    expected = set()
    for at_s, each in log.up:
        bare = each.payload + each.syn + each.fin == 0
        if bare and each.ack > 1 and each.ack == last.get(each.connection) and at_s <= world.env.now:
            expected.add(round(at_s * 1e9))
        last[each.connection] = each.ack
    assert expected
    assert seen == expected


def test_tshark_reads_the_beacons_as_they_are(tmp_path):
    """Name, interval, TIM, and the bit of association 1."""
    _, _, data = captured("psm", pages=2, beacon__dtim_period=3, beacon__interval_ms=102.4)
    fields = ("wlan.ssid", "wlan.fixed.beacon", "wlan.tim.dtim_count", "wlan.tim.dtim_period", "wlan.tim.aid")
    rows = tshark(data, tmp_path, "wlan.fc.type_subtype == 8", *fields)
    beacons = beacons_of(data)
    assert {tuple(row[1:2]) for row in rows} == {("100",)}
    assert [(row[2], row[3]) for row in rows] == [
        (str(each.dtim_count), str(each.period)) for each in beacons
    ]
    assert [row[4] != "" for row in rows] == [each.names for each in beacons]


def test_tshark_reads_sequence_numbers_windows_and_options(tmp_path):
    """Relative numbers are ours; a window of 180 segments is scaled, and told in the SYN."""
    _, log, data = captured("psm", topology="modern", pages=1)
    fields = ("tcp.flags.syn", "tcp.seq", "tcp.ack", "tcp.len", "tcp.window_size", "tcp.options.mss_val")
    rows = tshark(data, tmp_path, "tcp && wlan.fc.ds == 2", *fields)
    for row, (_, each) in zip(rows, log.down, strict=False):
        assert [int(value) for value in row[:4]] == [each.syn, each.seq, each.ack, each.payload]
        assert row[5] == ("1460" if each.syn else "")
        assert int(row[4]) == 65_535 if each.syn else 180 * 1460 <= int(row[4]) < 180 * 1460 + 8
