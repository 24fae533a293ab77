"""Open loop: the packets of a capture as messages, at the times at which they came."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psm_sim.limits import MAX_S
from psm_sim.parameters import check_all, parameter
from psm_sim.workload.messages import Messages, check_messages
from psm_sim.workload.page_view import Pause
from psm_sim.workload.recordings.capture.reader import AUTO, PacketCapture

_MAX_FRAME = 1500
_TAIL_S = 1.0
"""Seconds after the last packet: time for its way."""


@dataclass(frozen=True)
class CaptureOptions:
    """Use of a capture: whose packets, and how they are replayed."""

    client: str = parameter(AUTO, "the client's IP address; auto: the private address with most packets")
    mode: str = parameter(
        "open",
        "open: packets at the times at which they came; closed: requests and replies as pages over TCP",
        choices=("open", "closed"),
    )
    directions: str = parameter(
        "both",
        "open: packets both ways, or only those to or from the station",
        choices=("both", "down", "up"),
    )
    stretch_s: float | None = parameter(
        None,
        "open: length of the stretch that counts as one page; none: the whole capture",
        unit="s",
        above=0,
        at_most=MAX_S,
        optional=True,
    )
    phase_s: float = parameter(
        0.1,
        "open: the first packet comes at a random time within this, as the recorded beacons are not known",
        unit="s",
        at_least=0,
        at_most=MAX_S,
    )
    gap_s: float = parameter(
        1.0, "closed: the longest silence within a page", unit="s", at_least=0, at_most=MAX_S
    )

    def __post_init__(self) -> None:
        check_all(self, "trace")


def open_loop(
    capture: PacketCapture, use: CaptureOptions, pages: int, phase_s: float = 0.0
) -> tuple[Messages, tuple[Pause, ...]]:
    """Return the packets of a capture as messages, and the pauses beside which they are sent.

    Parameters
    ----------
    capture
        The packets of the client.
    use
        Which directions, and how long a stretch is.
    pages
        The largest number of stretches; what comes later is left out.
    phase_s
        When the first packet comes, in seconds.
    """
    at_s = capture.at_s + phase_s
    length_s = min(float(at_s[-1]) + _TAIL_S, MAX_S)
    stretch_s = use.stretch_s or length_s
    count = min(pages, -int(-length_s // stretch_s))
    chosen = at_s < count * stretch_s
    if use.directions != "both":
        chosen &= capture.uplink == (use.directions == "up")
    return _messages(capture, at_s, np.flatnonzero(chosen)), (Pause(stretch_s),) * count


def _messages(capture: PacketCapture, at_s: NDArray[np.float64], chosen: NDArray[np.intp]) -> Messages:
    """Return packets as messages; one that the interface was still to cut up is cut into frames."""
    length = np.maximum(capture.rows["length"][chosen].astype(np.int64), 1)
    frames = -(-length // _MAX_FRAME)
    check_messages(int(frames.sum()), "the capture")
    each = np.repeat(np.arange(chosen.size), frames)
    last = np.cumsum(frames) - 1
    size = np.full(each.size, _MAX_FRAME)
    size[last] = length - (frames - 1) * _MAX_FRAME
    columns = {"at_s": at_s[chosen][each], "uplink": capture.uplink[chosen][each], "bytes": size}
    return Messages(Messages.columns(each.size, **columns), at_access_point=True)
