"""Workloads that replay the packets of a capture, as messages at the recorded times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.errors import InputError
from psm_sim.common.formatting import pluralize
from psm_sim.common.input_limits import MAX_TIME_S
from psm_sim.common.parameters import SECONDS, build, check_all, parameter, values_of
from psm_sim.common.random_streams import random_stream
from psm_sim.workload.messages import DATAGRAM, Messages, check_messages
from psm_sim.workload.page_view import Pause
from psm_sim.workload.recordings.capture.ip_packets import ACK, FIN, RST, SYN, TCP
from psm_sim.workload.recordings.capture.packet_capture import AUTO, PacketCapture, read_capture
from psm_sim.workload.workload import Workload

_MAX_FRAME = 1500  # MTU of Ethernet
_TAIL_S = 1.0
"""Seconds of simulation after the last packet, so that it can be delivered."""


@dataclass(frozen=True)
class CaptureOptions:
    """Parameters for replaying a capture."""

    client: str = parameter(AUTO, "the client's IP address; auto: the private address with most packets")
    directions: str = parameter(
        "both",
        "packets in both directions, or only those to (down) or from (up) the station",
        choices=("both", "down", "up"),
    )
    stretch_s: float | None = parameter(
        None, "length of the interval that counts as one page; none: the whole capture", **SECONDS, above=0
    )
    phase_s: float = parameter(
        0.1,
        "maximum random time before the first packet, because the phase of the beacons is unknown",
        **SECONDS,
        at_least=0,
    )

    def __post_init__(self) -> None:
        check_all(self, "trace")


def no_pages_error(path: Path) -> InputError:
    """Return the error that a capture contains no pages."""
    return InputError(f"trace {path.name}: a capture has messages but no pages; for pages, use a HAR file.")


def captured_workload(path: Path, texts: Mapping[str, str], pages: int, seed: int) -> Workload:
    """Return a workload of pauses during which the packets of a capture are sent as messages.

    *texts* are the fields of :class:`CaptureOptions` as text. They are checked before the file is read.
    *pages* is the maximum number of pauses. Packets after the last pause are omitted. *seed* selects the
    random time before the first packet.

    Raises
    ------
    InputError
        If a parameter or the file is invalid.
    """
    options = capture_options(path, texts)
    capture = read_capture(path, options.client)
    at_s = capture.at_s + random_stream(seed, "workload.capture.phase").uniform(0.0, options.phase_s)
    length_s = min(float(at_s[-1]) + _TAIL_S, MAX_TIME_S)
    stretch_s = options.stretch_s or length_s
    count = min(pages, -int(-length_s // stretch_s))
    selected = at_s < count * stretch_s
    if options.directions != "both":
        selected &= capture.uplink == (options.directions == "up")
    messages = Messages(_messages(capture, at_s, selected), at_access_point=True)
    packets = f"{capture.rows.size:,} of {capture.packets:,} IP packets"
    remark = (
        f"client {capture.client} in {path.name} ({capture.format}), {packets}, replayed as "
        f"{pluralize(len(messages), 'frame')} at their recorded times"
    )
    return Workload(
        path.name, (Pause(stretch_s),) * count, False, "; ".join((remark, *capture.warnings)),
        values_of(options), capture.client, capture.warnings, messages,
    )  # fmt: skip


def capture_options(path: Path, texts: Mapping[str, str]) -> CaptureOptions:
    """Convert the parameters *texts* of a capture."""
    if "workload" in texts:
        raise no_pages_error(path)
    options: CaptureOptions = build(CaptureOptions, texts, f"trace {path.name}")
    return options


def _messages(
    capture: PacketCapture, at_s: NDArray[np.float64], selected: NDArray[np.bool_]
) -> NDArray[np.void]:
    """Return the selected packets as rows of :class:`Messages`.

    A packet captured before segmentation offload is split into frames of at most 1500 bytes.
    """
    rows = capture.rows[selected]
    length = np.maximum(rows["length"].astype(np.int64), 1)
    frames = -(-length // _MAX_FRAME)
    check_messages(int(frames.sum()), "the capture")
    packet = np.repeat(np.arange(rows.size), frames)
    is_last = np.diff(packet, append=rows.size) > 0
    # Every frame repeats the headers of its packet, and the last frame has the rest of the payload.
    data = rows["payload"].astype(np.int64)
    full = np.maximum(_MAX_FRAME - (length - data), 1)
    rest = np.where(data > 0, (data - 1) % full + 1, 0)
    flags = rows["flags"][packet]
    return Messages.columns(
        packet.size,
        at_s=at_s[selected][packet],
        uplink=capture.uplink[selected][packet],
        bytes=np.where(is_last, (length - (frames - 1) * _MAX_FRAME)[packet], _MAX_FRAME),
        flow=_connection_numbers(capture)[selected][packet],
        payload=np.minimum(np.where(is_last, rest[packet], full[packet]), data[packet]),
        syn=flags & SYN > 0,
        fin=is_last & (flags & (FIN | RST) > 0),
        mss=rows["mss"][packet],
    )


def _connection_numbers(capture: PacketCapture) -> NDArray[np.int64]:
    """Return the index of each packet's TCP connection, shape (n,).

    Connections are numbered from 0 in the order in which they open. Packets that are not TCP or have no ports
    get -1. The first packet between two ports opens a connection. A later SYN with another initial sequence
    number opens a new connection between these ports.
    """
    numbers = np.full(capture.rows.size, DATAGRAM, np.int64)
    opened: dict[tuple[int, ...], tuple[int, int | None]] = {}  # connection, initial sequence number
    (tcp,) = np.nonzero((capture.rows["protocol"] == TCP) & (capture.rows["source_port"] > 0))
    rows, count = capture.rows[tcp], 0
    names = ("source", "target", "source_port", "target_port", "sequence", "flags")
    columns = zip(
        tcp.tolist(), capture.uplink[tcp].tolist(), *(rows[name].tolist() for name in names), strict=True
    )
    for index, up, source, target, source_port, target_port, sequence, flags in columns:
        key = (target, source_port, target_port) if up else (source, target_port, source_port)
        syn = sequence if flags & (SYN | ACK) == SYN else None
        if key not in opened or syn not in (None, opened[key][1]):
            opened[key] = count, syn
            count += 1
        numbers[index] = opened[key][0]
    return numbers
