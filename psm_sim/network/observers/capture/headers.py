"""Headers of a capture, filled in column by column: pcap, radiotap and 802.11."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from psm_sim.network.observers.capture.capture_settings import SYN_OPTIONS, CaptureSettings
from psm_sim.network.observers.capture.layout import LAYOUTS, RECORD, beacon_layout, rows_of, template_of
from psm_sim.network.observers.capture.packets import PACKETS
from psm_sim.network.observers.capture.pending_frames import ACK, DATA, GROUP, NULL_FRAME, PS_POLL, take_rows
from psm_sim.network.observers.capture.station_addresses import ACCESS_POINT, BROADCAST_MAC, ROUTER, macs_of

Rows = NDArray[np.void]
IntArray = NDArray[np.int64]

_UDP_MIN = 28
_TO_AP, _FROM_AP, _RETRY, _SLEEPS, _MORE = 0x01, 0x02, 0x08, 0x10, 0x20
_BARE = {NULL_FRAME: "null", PS_POLL: "ps-poll", ACK: "ack"}
_CONTROL = {DATA: 0x08, GROUP: 0x08, NULL_FRAME: 0x48, PS_POLL: 0xA4, ACK: 0xD4}


def sizes_of(frames: Rows, scene: CaptureSettings) -> IntArray:
    """Return the bytes of each frame's record, its own header included, (n,)."""
    fixed = np.array([LAYOUTS["raw"].itemsize] * 2 + [LAYOUTS[name].itemsize for name in _BARE.values()])
    packet = frames["kind"] <= GROUP
    return np.asarray(fixed[frames["kind"]] + packet * frames["wire"] + _has_syn(frames) * scene.more_in_syn)


def frame_rows(
    frames: Rows, sizes: IntArray, orders: IntArray, scene: CaptureSettings
) -> Iterator[tuple[Rows, NDArray[np.intp]]]:
    """Yield the rows of each kind of frame, and which frames they are of.

    Parameters
    ----------
    frames
        (n,) rows of the waiting frames.
    sizes, orders
        (n,) bytes of their records, and their sequence numbers.
    scene
        What stands in the headers.
    """
    options = scene.header - 40 + scene.more_in_syn >= SYN_OPTIONS
    packet, flow = frames["kind"] <= GROUP, frames["number"] >= 0
    begins, small = _has_syn(frames) & options, ~flow & (frames["wire"] < _UDP_MIN)
    masks = {
        "tcp": packet & flow & ~begins,
        "syn": begins,
        "udp": packet & ~flow & ~small,
        "raw": packet & small,
        **{name: frames["kind"] == kind for kind, name in _BARE.items()},
    }
    for name, mask in masks.items():
        chosen = np.flatnonzero(mask)
        if chosen.size:
            some = take_rows(frames, chosen)
            rows = _headed(name, some, sizes[chosen], scene)
            if name in ("ps-poll", "ack"):
                _short(rows, some, scene)
            else:
                _long(rows, some, orders[chosen], scene)
            if name in PACKETS:
                PACKETS[name](rows, some, scene)
            yield rows, chosen


def ack_rows(frames: Rows, scene: CaptureSettings) -> Rows:
    """Return the rows of the ACKs that follow frames at once: they take no time in the plain MAC."""
    rows = _headed("ack", frames, np.full(frames.size, LAYOUTS["ack"].itemsize), scene)
    rows["begun_us"] = np.maximum(np.rint(frames["heard_s"] * 1e6), 0)
    rows["control"] = _CONTROL[ACK]
    rows["to"] = macs_of(scene.stations)[frames["aid"] * frames["up"]]
    return rows


def beacon_template(count: int, scene: CaptureSettings) -> Rows:
    """Return *count* rows of beacons in which all is set that does not change from one to the next."""
    layout = beacon_layout(scene.stations)
    fixed = {
        **_speed("beacon", scene), "control": 0x80, "to": BROADCAST_MAC, "by": ACCESS_POINT,
        "third": ACCESS_POINT, "interval": scene.beacon_tu, "dtim_period": scene.dtim_period,
        "tim": (5, 3 + layout["bitmap"].itemsize),
    }  # fmt: skip
    rows = np.repeat(template_of(layout, fixed), count)
    rows["kept"] = rows["length"] = rows.itemsize - RECORD
    return rows


def fill_beacons(
    rows: Rows,
    numbers: IntArray,
    begun_s: NDArray[np.floating],
    orders: IntArray,
    tims: tuple[NDArray[np.uint8], NDArray[np.bool_]],
    scene: CaptureSettings,
) -> None:
    """Fill in what changes from one beacon to the next.

    Parameters
    ----------
    rows
        (m,) rows of the template.
    numbers, begun_s, orders
        (m,) the beacons' numbers, when they go on the air in seconds, and their sequence numbers as frames.
    tims
        (m, octets of a bitmap) which stations each names, and (m,) whether group frames follow it.
    scene
        What stands in the headers.
    """
    _stamp(rows, begun_s + scene.beacon_air_s, begun_s)
    rows["stamp_us"] = rows["begun_us"]
    rows["order"] = orders << 4
    if scene.dtim_period > 1:
        rows["dtim_count"] = -numbers % scene.dtim_period
    rows["bitmap"], rows["group"] = tims


def _headed(name: str, frames: Rows, sizes: IntArray, scene: CaptureSettings) -> Rows:
    rows = rows_of(name, frames.size, _speed(name, scene))
    rows["kept"] = rows["length"] = sizes - RECORD
    _stamp(rows, frames["heard_s"], frames["heard_s"] - frames["air_s"])
    return rows


def _speed(name: str, scene: CaptureSettings) -> dict[str, int]:
    """Return the fields of radiotap that say the rate of a kind of row, if it can be said."""
    rate = scene.rates.get(name, scene.rate)
    return {"rate": rate, "present": 0xF if rate else 0xB}


def _stamp(rows: Rows, heard_s: NDArray[np.floating], begun_s: NDArray[np.floating]) -> None:
    whole = np.floor(heard_s)
    nanoseconds = np.minimum(np.rint((heard_s - whole) * 1e9), 999_999_999)
    rows["seconds"], rows["nanoseconds"] = whole, nanoseconds
    rows["begun_us"] = np.maximum(np.rint(begun_s * 1e6), 0)


def _long(rows: Rows, frames: Rows, orders: IntArray, scene: CaptureSettings) -> None:
    """Fill in the MAC header of data or a null frame; *orders* are sequence numbers."""
    up, group = frames["up"], frames["kind"] == GROUP
    rows["control"] = _control(frames)
    rows["bits"] = np.where(up, _TO_AP, _FROM_AP) | _bits(frames)
    rows["duration"] = scene.ack_us * ~group
    macs, aid = macs_of(scene.stations), frames["aid"]
    rows["to"] = macs[aid * ~up]
    rows["to"][group] = BROADCAST_MAC
    rows["by"] = macs[aid * up]
    rows["third"] = ROUTER
    rows["third"][frames["kind"] == NULL_FRAME] = ACCESS_POINT
    rows["order"] = orders << 4


def _short(rows: Rows, frames: Rows, scene: CaptureSettings) -> None:
    """Fill in the MAC header of a PS-Poll, or of an ACK that a MAC has told of."""
    rows["control"], rows["bits"] = _control(frames), _bits(frames)
    macs, aid = macs_of(scene.stations), frames["aid"]
    rows["to"] = macs[aid * ~frames["up"]]
    if "by" in (rows.dtype.names or ()):
        rows["duration"], rows["by"] = 0xC000 | aid, macs[aid]


def _control(frames: Rows) -> NDArray[np.uint8]:
    codes = np.array([_CONTROL[kind] for kind in range(len(_CONTROL))], np.uint8)
    return np.asarray(codes[frames["kind"]])


def _bits(frames: Rows) -> IntArray:
    return np.asarray(_RETRY * frames["retry"] + _SLEEPS * frames["sleeps"] + _MORE * frames["more"])


def _has_syn(frames: Rows) -> NDArray[np.bool_]:
    return np.asarray(frames["syn"] & (frames["number"] >= 0))
