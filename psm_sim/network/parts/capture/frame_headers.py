"""Headers of the captured frames (pcap, radiotap and 802.11), filled in by columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from psm_sim.network.parts.capture.capture_settings import SYN_OPTIONS, CaptureSettings
from psm_sim.network.parts.capture.ip_packets import PACKETS
from psm_sim.network.parts.capture.pending_frames import ACK, DATA, GROUP, NULL_FRAME, PS_POLL, take_rows
from psm_sim.network.parts.capture.record_layouts import (
    LAYOUTS,
    RECORD,
    beacon_layout,
    rows_of,
    template_of,
)
from psm_sim.network.parts.capture.station_addresses import ACCESS_POINT, BROADCAST_MAC, ROUTER, macs_of

Rows = NDArray[np.void]
IntArray = NDArray[np.int64]

_UDP_MIN = 28
_TO_AP, _FROM_AP, _RETRY, _SLEEPS, _MORE = 0x01, 0x02, 0x08, 0x10, 0x20
_HEADER_ONLY = {NULL_FRAME: "null", PS_POLL: "ps-poll", ACK: "ack"}
_CONTROL = {DATA: 0x08, GROUP: 0x08, NULL_FRAME: 0x48, PS_POLL: 0xA4, ACK: 0xD4}


def sizes_of(frames: Rows, settings: CaptureSettings) -> IntArray:
    """Return the record size of each frame in bytes, with its record header, shape (n,)."""
    fixed = np.array(
        [LAYOUTS["raw"].itemsize] * 2 + [LAYOUTS[name].itemsize for name in _HEADER_ONLY.values()]
    )
    packet = frames["kind"] <= GROUP
    return np.asarray(
        fixed[frames["kind"]] + packet * frames["wire"] + _has_syn(frames) * settings.more_in_syn
    )


def frame_rows(
    frames: Rows, sizes: IntArray, orders: IntArray, settings: CaptureSettings
) -> Iterator[tuple[Rows, NDArray[np.intp]]]:
    """Yield the rows of each kind of frame, with the indices of the frames.

    Parameters
    ----------
    frames
        The pending frames, shape (n,).
    sizes, orders
        Record sizes in bytes and sequence numbers, shape (n,).
    settings
        Values of header fields.
    """
    options = settings.header - 40 + settings.more_in_syn >= SYN_OPTIONS
    packet, flow = frames["kind"] <= GROUP, frames["number"] >= 0
    has_options, small = _has_syn(frames) & options, ~flow & (frames["wire"] < _UDP_MIN)
    masks = {
        "tcp": packet & flow & ~has_options,
        "syn": has_options,
        "udp": packet & ~flow & ~small,
        "raw": packet & small,
        **{name: frames["kind"] == kind for kind, name in _HEADER_ONLY.items()},
    }
    for name, mask in masks.items():
        chosen = np.flatnonzero(mask)
        if chosen.size:
            group = take_rows(frames, chosen)
            rows = _rows_with_record(name, group, sizes[chosen], settings)
            if name in ("ps-poll", "ack"):
                _fill_short_header(rows, group, settings)
            else:
                _fill_long_header(rows, group, orders[chosen], settings)
            if name in PACKETS:
                PACKETS[name](rows, group, settings)
            yield rows, chosen


def ack_rows(frames: Rows, settings: CaptureSettings) -> Rows:
    """Return the rows of the ACKs that follow *frames*, which take no time without the DCF."""
    rows = _rows_with_record("ack", frames, np.full(frames.size, LAYOUTS["ack"].itemsize), settings)
    rows["tsft_us"] = np.maximum(np.rint(frames["heard_s"] * 1e6), 0)
    rows["control"] = _CONTROL[ACK]
    rows["address1"] = macs_of(settings.stations)[frames["aid"] * frames["up"]]
    return rows


def beacon_template(count: int, settings: CaptureSettings) -> Rows:
    """Return *count* rows of beacons with all constant fields set."""
    layout = beacon_layout(settings.stations)
    fixed = {
        **_rate_fields("beacon", settings), "control": 0x80,
        "address1": BROADCAST_MAC, "address2": ACCESS_POINT, "address3": ACCESS_POINT,
        "interval": settings.beacon_tu, "dtim_period": settings.dtim_period,
        "tim": (5, 3 + layout["bitmap"].itemsize),
    }  # fmt: skip
    rows = np.repeat(template_of(layout, fixed), count)
    rows["captured_length"] = rows["original_length"] = rows.itemsize - RECORD
    return rows


def fill_beacons(
    rows: Rows,
    numbers: IntArray,
    starts_s: NDArray[np.floating],
    orders: IntArray,
    tims: tuple[NDArray[np.uint8], NDArray[np.bool_]],
    settings: CaptureSettings,
) -> None:
    """Fill in the fields that change from one beacon to the next.

    Parameters
    ----------
    rows
        Rows of the template, shape (m,).
    numbers, starts_s, orders
        Beacon numbers, starts of transmission in seconds, and sequence numbers, shape (m,).
    tims
        TIM bitmaps, shape (m, octets), and whether group frames follow each beacon, shape (m,).
    settings
        Values of header fields.
    """
    _stamp(rows, starts_s + settings.beacon_air_s, starts_s)
    rows["timestamp_us"] = rows["tsft_us"]
    rows["sequence_control"] = orders << 4
    if settings.dtim_period > 1:
        rows["dtim_count"] = -numbers % settings.dtim_period
    rows["bitmap"], rows["group"] = tims


def _rows_with_record(name: str, frames: Rows, sizes: IntArray, settings: CaptureSettings) -> Rows:
    rows = rows_of(name, frames.size, _rate_fields(name, settings))
    rows["captured_length"] = rows["original_length"] = sizes - RECORD
    _stamp(rows, frames["heard_s"], frames["heard_s"] - frames["air_s"])
    return rows


def _rate_fields(name: str, settings: CaptureSettings) -> dict[str, int]:
    """Return the radiotap fields of the rate. The field is absent if the rate cannot be expressed."""
    rate = settings.rates.get(name, settings.rate)
    return {"rate": rate, "present": 0xF if rate else 0xB}


def _stamp(rows: Rows, heard_s: NDArray[np.floating], starts_s: NDArray[np.floating]) -> None:
    seconds = np.floor(heard_s)
    nanoseconds = np.minimum(np.rint((heard_s - seconds) * 1e9), 999_999_999)
    rows["seconds"], rows["nanoseconds"] = seconds, nanoseconds
    rows["tsft_us"] = np.maximum(np.rint(starts_s * 1e6), 0)


def _fill_long_header(rows: Rows, frames: Rows, orders: IntArray, settings: CaptureSettings) -> None:
    """Fill in the MAC header of data and null data frames; *orders* are sequence numbers."""
    up, group = frames["up"], frames["kind"] == GROUP
    rows["control"] = _control(frames)
    rows["bits"] = np.where(up, _TO_AP, _FROM_AP) | _bits(frames)
    rows["duration"] = settings.ack_us * ~group
    macs, aid = macs_of(settings.stations), frames["aid"]
    rows["address1"] = macs[aid * ~up]
    rows["address1"][group] = BROADCAST_MAC
    rows["address2"] = macs[aid * up]
    rows["address3"] = ROUTER
    rows["address3"][frames["kind"] == NULL_FRAME] = ACCESS_POINT
    rows["sequence_control"] = orders << 4


def _fill_short_header(rows: Rows, frames: Rows, settings: CaptureSettings) -> None:
    """Fill in the MAC header of PS-Polls, or of ACKs that the MAC has reported."""
    rows["control"], rows["bits"] = _control(frames), _bits(frames)
    macs, aid = macs_of(settings.stations), frames["aid"]
    rows["address1"] = macs[aid * ~frames["up"]]
    if "address2" in (rows.dtype.names or ()):
        rows["duration"], rows["address2"] = 0xC000 | aid, macs[aid]


def _control(frames: Rows) -> NDArray[np.uint8]:
    codes = np.array([_CONTROL[kind] for kind in range(len(_CONTROL))], np.uint8)
    return np.asarray(codes[frames["kind"]])


def _bits(frames: Rows) -> IntArray:
    return np.asarray(_RETRY * frames["retry"] + _SLEEPS * frames["sleeps"] + _MORE * frames["more"])


def _has_syn(frames: Rows) -> NDArray[np.bool_]:
    return np.asarray(frames["syn"] & (frames["number"] >= 0))
