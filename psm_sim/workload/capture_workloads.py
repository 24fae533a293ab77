"""Workloads from a packet capture, replayed in an open or a closed loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.input_limits import MAX_S
from psm_sim.common.parameters import (
    check_all,
    parameter,
    values_of,
)
from psm_sim.common.progress import Progress
from psm_sim.common.random_streams import random_stream
from psm_sim.workload.messages import Messages, check_messages
from psm_sim.workload.network_activity import Activity, Transfer
from psm_sim.workload.page_view import Pause
from psm_sim.workload.recorded_pages import Playback, build_options, playback_pages
from psm_sim.workload.recordings.capture.ip_packets import FIN, RST, SYN
from psm_sim.workload.recordings.capture.packet_capture import AUTO, PacketCapture, is_capture, read_capture
from psm_sim.workload.recordings.capture.tcp_connections import connection_numbers, exchanges_of, recording_of
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.recording import Recording
from psm_sim.workload.workload import Workload, describe_page_count


@dataclass(frozen=True, eq=False)
class CapturedTrace:
    """Packets of a capture and the parameters of their replay."""

    path: Path
    capture: PacketCapture
    use: CaptureOptions
    playback: Playback

    @property
    def recording(self) -> Recording:
        """Pages reconstructed from the requests and replies."""
        return recording_of(self.capture, self.use.gap_s)

    @property
    def remark(self) -> str:
        """Description for users, without a full stop."""
        capture = self.capture
        packets = f"{capture.rows.size:,} of {capture.packets:,} IP packets"
        return f"client {capture.client} in {self.path.name} ({capture.format}), {packets}"


def is_capture_file(path: Path) -> bool:
    """Return whether the content of a file is that of a capture.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    return is_capture(ChunkReader(path).head(4))


def capture_at(path: Path, texts: Mapping[str, str], progress: Progress | None = None) -> CapturedTrace:
    """Read a capture. The parameters are checked before the file is read.

    Parameters
    ----------
    path
        File of the capture.
    texts
        Parameters of the capture as text, by name.
    progress
        Callback that reports the progress of reading.

    Raises
    ------
    InputError
        If a parameter or the file is invalid.
    """
    owner = f"trace {path.name}"
    closed = texts.get("mode", "open").strip() == "closed"
    others = {} if closed else {"mode=closed": Playback}
    classes = (CaptureOptions, Playback) if closed else (CaptureOptions,)
    use, *playback = build_options(classes, others, texts, owner)
    return CapturedTrace(path, read_capture(path, use.client, progress), use, *(playback or [Playback()]))


def workload_of(captured: CapturedTrace, pages: int, seed: int) -> Workload:
    """Return the workload of a capture.

    An open loop replays packets as messages during pauses. A closed loop replays requests and replies as
    pages.

    Parameters
    ----------
    captured
        Capture and replay parameters.
    pages
        Maximum number of intervals or pages, at least 1.
    seed
        Random seed. It decides the phase and the values missing in the capture.
    """
    use, warnings = captured.use, captured.capture.warnings
    if use.mode == "open":
        phase_s = random_stream(seed, "workload.capture.phase").uniform(0.0, use.phase_s)
        messages, pauses = open_loop(captured.capture, use, pages, phase_s)
        remark = f"{captured.remark}, replayed as {len(messages):,} frames at their recorded times"
        return _workload(captured, pauses, (remark, *warnings), values_of(use), messages)
    recording = captured.recording
    replayed = playback_pages(recording, 0, pages, captured.playback, seed)
    remark = (
        f"{captured.remark}, requests and replies over TCP as pages, "
        f"{describe_page_count(recording.pages, pages)}"
    )
    values = values_of(use) | values_of(captured.playback)
    return _workload(captured, replayed, (remark, *recording.warnings), values, Messages())


def activity_of(captured: CapturedTrace) -> Activity:
    """Return the client's request-reply exchanges as transfers, with their recorded times."""
    exchanges, notes = exchanges_of(captured.capture)
    transfers = [Transfer(each.start_us, each.end_us, each.reply_bytes) for each in exchanges]
    remark = "; ".join((f"{captured.remark}, {len(exchanges):,} requests as recorded", *notes))
    return Activity(captured.capture.client, transfers, False, remark, values_of(captured.use))


def _workload(
    captured: CapturedTrace,
    pages: tuple[Any, ...],
    remarks: tuple[str, ...],
    values: dict[str, Any],
    messages: Messages,
) -> Workload:
    client, notes = captured.capture.client, remarks[1:]
    return Workload(captured.path.name, pages, False, "; ".join(remarks), values, client, notes, messages)


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
        requires="mode=open",
    )
    stretch_s: float | None = parameter(
        None,
        "open: length of the interval that counts as one page; none: the whole capture",
        unit="s",
        above=0,
        at_most=MAX_S,
        optional=True,
        requires="mode=open",
    )
    phase_s: float = parameter(
        0.1,
        "open: the first packet is sent at a random time up to this, as the beacon phase is unknown",
        unit="s",
        at_least=0,
        at_most=MAX_S,
        requires="mode=open",
    )
    gap_s: float = parameter(
        1.0,
        "closed: longest idle period within a page",
        unit="s",
        at_least=0,
        at_most=MAX_S,
        requires="mode=closed",
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
    rows = capture.rows[selected]
    length = np.maximum(rows["length"].astype(np.int64), 1)
    frames = -(-length // _MAX_FRAME)
    check_messages(int(frames.sum()), "the capture")
    packet = np.repeat(np.arange(selected.size), frames)
    last = np.cumsum(frames) - 1
    size = np.full(packet.size, _MAX_FRAME)
    size[last] = length - (frames - 1) * _MAX_FRAME
    is_last = np.zeros(packet.size, bool)
    is_last[last] = True
    # A segment repeats the headers of its packet, so the last one has the rest of the payload.
    data = rows["payload"].astype(np.int64)
    full = np.maximum(_MAX_FRAME - (length - data), 1)
    rest = np.where(data > 0, (data - 1) % full + 1, 0)
    flags = rows["flags"][packet]
    columns = {
        "at_s": at_s[selected][packet],
        "uplink": capture.uplink[selected][packet],
        "bytes": size,
        "flow": connection_numbers(capture)[selected][packet],
        "payload": np.minimum(np.where(is_last, rest[packet], full[packet]), data[packet]),
        "syn": flags & SYN > 0,
        "fin": is_last & (flags & (FIN | RST) > 0),
        "mss": rows["mss"][packet],
    }
    return Messages(Messages.columns(packet.size, **columns), at_access_point=True)
