"""Part of a traffic trace: messages of one kind, by a clock, memoryless or in bursts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError
from psm_sim.limits import MAX_BYTES, MAX_S
from psm_sim.parameters import check_all, parameter
from psm_sim.workload.messages import DATAGRAM, Messages
from psm_sim.workload.push_traffic import Pushes, push_times

_MAX_DATAGRAM = 1500


@dataclass(frozen=True)
class TrafficPart:
    """Traffic part: when messages are sent, by whom, how large they are, and how they are answered."""

    on: bool = parameter(True, "whether this part is sent at all")
    sender: str = parameter(
        "network", "who sends; the other side answers if it does", choices=("station", "network")
    )
    timing: str = parameter(
        "clock",
        "one every period; memoryless; or busy and quiet times in turn",
        choices=("clock", "poisson", "bursts"),
    )
    period_s: float = parameter(
        60.0, "time between two, in the mean; bursts: when quiet", unit="s", at_least=1e-6, at_most=MAX_S
    )
    spread_s: float = parameter(
        0.0, "clock: standard deviation of each around its time", unit="s", at_least=0, at_most=MAX_S
    )
    busy_s: float = parameter(
        3.0, "bursts: mean time between two when busy", unit="s", at_least=1e-6, at_most=MAX_S
    )
    quiet_for_s: float = parameter(
        300.0, "bursts: mean length of a quiet time", unit="s", above=0, at_most=MAX_S
    )
    busy_for_s: float = parameter(
        30.0, "bursts: mean length of a busy time", unit="s", above=0, at_most=MAX_S
    )
    transport: str = parameter(
        "datagram",
        "a datagram of its own, or a message on a TCP connection that stays open",
        choices=("datagram", "tcp"),
    )
    bytes: int = parameter(
        100, "size; of a datagram headers included, at most 1500", unit="B", at_least=1, at_most=MAX_BYTES
    )
    reply_bytes: int = parameter(
        0, "size of the answer, as bytes; 0: there is none", unit="B", at_least=0, at_most=MAX_BYTES
    )
    reply_delay_ms: float = parameter(
        0.0, "time before the other side answers", unit="ms", at_least=0, at_most=1e9
    )

    def __post_init__(self) -> None:
        check_all(self, "traffic")

    def check_sizes(self, owner: str) -> None:
        """Refuse a datagram smaller than its headers, or larger than a frame; *owner* is for the error."""
        for name, size in (("bytes", self.bytes), ("reply_bytes", self.reply_bytes)):
            if self.transport == "datagram" and size and not 29 <= size <= _MAX_DATAGRAM:
                raise InputError(
                    f"{owner}: {name} is {size}; expected 29 to {_MAX_DATAGRAM} for a datagram with its "
                    "headers of 28, or transport=tcp."
                )

    def rows(
        self, length_s: float, connection: int, random: np.random.Generator, owner: str
    ) -> NDArray[np.void]:
        """Return the messages of this part, as rows of :class:`~psm_sim.workload.messages.Messages`.

        Parameters
        ----------
        length_s
            Messages are sent from 0 s to this time.
        connection
            The number of its connection, if it uses TCP.
        random
            Where the draws come from.
        owner
            What the errors call it.
        """
        drawing = self._drawing()
        drawing.check_count(length_s, owner)
        clock = self.timing == "clock"
        at_s = self._clock(length_s, random) if clock else np.array(push_times(drawing, length_s, random))
        return Messages.columns(
            at_s.size,
            at_s=at_s,
            bytes=self.bytes,
            uplink=self.sender == "station",
            reply_bytes=self.reply_bytes,
            reply_delay_s=self.reply_delay_ms / 1000,
            connection=connection if self.transport == "tcp" else DATAGRAM,
        )

    def _clock(self, length_s: float, random: np.random.Generator) -> FloatArray:
        # A phase of its own: clocks that all begin with the run would be in step with its beacons.
        due_s = np.arange(random.uniform(0.0, self.period_s), length_s, self.period_s)
        moved_s = due_s + self.spread_s * random.standard_normal(due_s.size)
        return np.sort(np.clip(moved_s, 0.0, length_s))

    def _drawing(self) -> Pushes:
        return Pushes(
            kind=self.timing,
            mean_s=self.period_s,
            quiet_s=self.period_s,
            period_s=self.period_s,
            busy_s=self.busy_s,
            quiet_for_s=self.quiet_for_s,
            busy_for_s=self.busy_for_s,
        )
