"""Parameters of fault injection: frame loss, access-point restarts, server stalls and abandoned pages."""

from __future__ import annotations

from dataclasses import dataclass

from psm_sim.common.parameters import check_all, parameter


@dataclass(frozen=True)
class LossParameters:
    """Frame loss on one hop, in both directions, with an optional bad state (Gilbert-Elliott model).

    On the wireless hop these are frames that the MAC has given up after its own retries. The good and the bad
    state have exponential durations. With a loss of 1 every page fails.
    """

    loss: float = parameter(
        0.0, "frame loss probability, in the good state if there is a bad one", at_least=0, at_most=1
    )
    bad_loss: float = parameter(
        0.0, "frame loss probability in the bad state; 0: no bad state", at_least=0, at_most=1
    )
    good_s: float = parameter(10.0, "mean duration of the good state", unit="s", at_least=0.001, at_most=1e6)
    bad_s: float = parameter(1.0, "mean duration of the bad state", unit="s", at_least=0.001, at_most=1e6)

    def __post_init__(self) -> None:
        check_all(self, "faults")

    @property
    def on(self) -> bool:
        """Whether any frame can be lost."""
        return self.loss > 0 or self.bad_loss > 0


@dataclass(frozen=True)
class FaultParameters:
    """Other faults. By default all are disabled.

    A home access point takes half a minute to start; 1e6 s are 12 days. Users leave after about 10 s (Nielsen
    1993); this is not a default here.
    """

    seed: int | None = parameter(
        None, "seed of the faults; none: seed of the run", at_least=0, at_most=2**32 - 1, optional=True,
        kind=int,
    )  # fmt: skip
    restart_every_s: float | None = parameter(
        None, "mean of the exponential time until the access point restarts and loses buffered frames and the"
        " association", unit="s", at_least=1, at_most=1e9, optional=True,
    )  # fmt: skip
    restart_s: float = parameter(
        30.0,
        "duration of a restart, in which the access point forwards no frames",
        unit="s",
        at_least=0,
        at_most=1e6,
    )
    restart_noticed: str = parameter(
        "return",
        "when the station associates again: as soon as the access point is back, because the driver has"
        " missed beacons (return), or with its next transmission (send)",
        choices=("return", "send"),
    )
    stall_every_s: float | None = parameter(
        None, "mean of the exponential time until the server stalls and sends no replies",
        unit="s", at_least=1, at_most=1e9, optional=True,
    )  # fmt: skip
    stall_s: float = parameter(10.0, "duration of a server stall", unit="s", at_least=0.001, at_most=1e6)
    patience_s: float | None = parameter(
        None, "time after which the user abandons a page", unit="s", at_least=0.001, at_most=1e6,
        optional=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_all(self, "faults")

    @property
    def on(self) -> bool:
        """Whether any of these faults is enabled."""
        return any(time is not None for time in (self.restart_every_s, self.stall_every_s, self.patience_s))
