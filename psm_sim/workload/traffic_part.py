"""Parts of a traffic trace, each with periodic, memoryless or bursty messages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_BYTES, MAX_S
from psm_sim.common.parameters import check_all, parameter
from psm_sim.workload.messages import DATAGRAM, Messages
from psm_sim.workload.push_traffic import Pushes, push_times

_MAX_DATAGRAM = 1500


@dataclass(frozen=True)
class TrafficPart:
    """Parameters of the messages of one part of a traffic trace."""

    on: bool = parameter(True, "send the messages of this part")
    sender: str = parameter("network", "sender; the other side replies", choices=("station", "network"))
    timing: str = parameter(
        "clock",
        "clock: periodic; poisson: memoryless; bursts: alternating busy and quiet periods",
        choices=("clock", "poisson", "bursts"),
    )
    period_s: float = parameter(
        60.0, "mean interval; bursts: in a quiet period", unit="s", at_least=1e-6, at_most=MAX_S
    )
    spread_s: float = parameter(
        0.0, "clock: standard deviation of each transmission time", unit="s", at_least=0, at_most=MAX_S
    )
    busy_s: float = parameter(
        3.0, "bursts: mean interval in a busy period", unit="s", at_least=1e-6, at_most=MAX_S
    )
    quiet_for_s: float = parameter(
        300.0, "bursts: mean length of a quiet period", unit="s", above=0, at_most=MAX_S
    )
    busy_for_s: float = parameter(
        30.0, "bursts: mean length of a busy period", unit="s", above=0, at_most=MAX_S
    )
    transport: str = parameter(
        "datagram",
        "single datagrams, or messages on a persistent TCP connection",
        choices=("datagram", "tcp"),
    )
    bytes: int = parameter(
        100, "size; a datagram includes headers, at most 1500", unit="B", at_least=1, at_most=MAX_BYTES
    )
    reply_bytes: int = parameter(
        0, "size of the reply, counted like bytes; 0: no reply", unit="B", at_least=0, at_most=MAX_BYTES
    )
    reply_delay_ms: float = parameter(
        0.0, "delay before the other side replies", unit="ms", at_least=0, at_most=1e9
    )

    def __post_init__(self) -> None:
        check_all(self, "traffic")

    def check_sizes(self, owner: str) -> None:
        """Raise an error for a datagram smaller than its headers or larger than a frame.

        *owner* names the part in the error message.
        """
        for name, size in (("bytes", self.bytes), ("reply_bytes", self.reply_bytes)):
            if self.transport == "datagram" and size and not 29 <= size <= _MAX_DATAGRAM:
                raise InputError(
                    f"{owner}: {name} of a datagram must be from 29 to {_MAX_DATAGRAM}, including headers of "
                    f"28 bytes, got {size}; use another size or transport=tcp."
                )

    def rows(
        self, length_s: float, connection: int, random: np.random.Generator, owner: str
    ) -> NDArray[np.void]:
        """Return the messages of this part, as rows of :class:`~psm_sim.workload.messages.Messages`.

        Parameters
        ----------
        length_s
            End of the transmissions, which start at 0 s, in seconds.
        connection
            Number of the part's connection if it uses TCP.
        random
            Random stream.
        owner
            Name of the part in error messages.
        """
        pushes = self._push_parameters()
        pushes.check_count(length_s, owner)
        is_periodic = self.timing == "clock"
        at_s = (
            self._clock(length_s, random) if is_periodic else np.array(push_times(pushes, length_s, random))
        )
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
        # A random phase, because clocks that start with the run would be synchronised with the beacons.
        scheduled_s = np.arange(random.uniform(0.0, self.period_s), length_s, self.period_s)
        sent_s = scheduled_s + self.spread_s * random.standard_normal(scheduled_s.size)
        return np.sort(np.clip(sent_s, 0.0, length_s))

    def _push_parameters(self) -> Pushes:
        return Pushes(
            kind=self.timing,
            mean_s=self.period_s,
            quiet_s=self.period_s,
            period_s=self.period_s,
            busy_s=self.busy_s,
            quiet_for_s=self.quiet_for_s,
            busy_for_s=self.busy_for_s,
        )
