"""Open-loop replay of a capture: packets become messages at their recorded times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.input_limits import MAX_S
from psm_sim.common.parameters import check_all, parameter
from psm_sim.workload.messages import Messages, check_messages
from psm_sim.workload.page_view import Pause
from psm_sim.workload.recordings.capture.reader import AUTO, PacketCapture

_MAX_FRAME = 1500
_TAIL_S = 1.0
"""Seconds of simulation after the last packet, so that it can be delivered."""


@dataclass(frozen=True)
class CaptureOptions:
    """Parameters of the replay of a capture."""

    client: str = parameter(AUTO, "the client's IP address; auto: the private address with most packets")
    mode: str = parameter(
        "open",
        "open: packets at their recorded times; closed: requests and replies as pages over TCP",
        choices=("open", "closed"),
    )
    directions: str = parameter(
        "both",
        "open: packets in both directions, or only those to (down) or from (up) the station",
        choices=("both", "down", "up"),
    )
    stretch_s: float | None = parameter(
        None,
        "open: length of the interval that counts as one page; none: the whole capture",
        unit="s",
        above=0,
        at_most=MAX_S,
        optional=True,
    )
    phase_s: float = parameter(
        0.1,
        "open: the first packet is sent at a random time up to this, as the beacon phase is unknown",
        unit="s",
        at_least=0,
        at_most=MAX_S,
    )
    gap_s: float = parameter(
        1.0, "closed: longest idle period within a page", unit="s", at_least=0, at_most=MAX_S
    )

    def __post_init__(self) -> None:
        check_all(self, "trace")


def open_loop(
    capture: PacketCapture, use: CaptureOptions, pages: int, phase_s: float = 0.0
) -> tuple[Messages, tuple[Pause, ...]]:
    """Return the packets of a capture as messages, and the pauses during which they are sent.

    Parameters
    ----------
    capture
        Packets of the client.
    use
        Directions and length of an interval.
    pages
        Maximum number of intervals. Later packets are omitted.
    phase_s
        Time of the first packet, in seconds.
    """
    at_s = capture.at_s + phase_s
    length_s = min(float(at_s[-1]) + _TAIL_S, MAX_S)
    stretch_s = use.stretch_s or length_s
    count = min(pages, -int(-length_s // stretch_s))
    selected = at_s < count * stretch_s
    if use.directions != "both":
        selected &= capture.uplink == (use.directions == "up")
    return _messages(capture, at_s, np.flatnonzero(selected)), (Pause(stretch_s),) * count


def _messages(capture: PacketCapture, at_s: NDArray[np.float64], selected: NDArray[np.intp]) -> Messages:
    """Return packets as messages.

    A packet captured before segmentation offload is split into frames of at most 1500 bytes.
    """
    length = np.maximum(capture.rows["length"][selected].astype(np.int64), 1)
    frames = -(-length // _MAX_FRAME)
    check_messages(int(frames.sum()), "the capture")
    packet = np.repeat(np.arange(selected.size), frames)
    last = np.cumsum(frames) - 1
    size = np.full(packet.size, _MAX_FRAME)
    size[last] = length - (frames - 1) * _MAX_FRAME
    columns = {"at_s": at_s[selected][packet], "uplink": capture.uplink[selected][packet], "bytes": size}
    return Messages(Messages.columns(packet.size, **columns), at_access_point=True)
