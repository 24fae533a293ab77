"""Faults of a topology in numbers: frames lost on a hop, a restarting access point, a stalling server."""

from __future__ import annotations

from dataclasses import dataclass

from psm_sim.parameters import check_all, parameter


@dataclass(frozen=True)
class LossParameters:
    """Frames lost on one hop, each way: each on its own, and more of them in bad times (Gilbert and Elliott).

    On the wireless hop these are the frames that the MAC has given up, after its own retries. Good and bad
    times have memoryless lengths. A share of 1 lets nothing through, and every page fails.
    """

    loss: float = parameter(
        0.0, "share of the frames lost, in good times if there are bad ones", at_least=0, at_most=1
    )
    bad_loss: float = parameter(
        0.0, "share of the frames lost in bad times; 0: there are none", at_least=0, at_most=1
    )
    good_s: float = parameter(
        10.0, "mean time from one bad time to the next", unit="s", at_least=0.001, at_most=1e6
    )
    bad_s: float = parameter(1.0, "mean length of a bad time", unit="s", at_least=0.001, at_most=1e6)

    def __post_init__(self) -> None:
        check_all(self, "faults")

    @property
    def on(self) -> bool:
        """Whether any frame can be lost."""
        return self.loss > 0 or self.bad_loss > 0


@dataclass(frozen=True)
class FaultParameters:
    """What goes wrong beside frames; all of it off by default.

    A home access point takes half a minute to start; 1e6 s are 12 days. Who waits for a page leaves after
    about ten seconds (Nielsen 1993), which no parameter assumes.
    """

    seed: int | None = parameter(
        None, "seed of the faults; none: that of the run", at_least=0, at_most=2**32 - 1, optional=True,
        kind=int,
    )  # fmt: skip
    restart_every_s: float | None = parameter(
        None, "mean time, memoryless, until the access point starts anew: what it held and the association"
        " are lost", unit="s", at_least=1, at_most=1e9, optional=True,
    )  # fmt: skip
    restart_s: float = parameter(
        30.0, "time that it then takes, in which no frame passes it", unit="s", at_least=0, at_most=1e6
    )
    restart_noticed: str = parameter(
        "return",
        "when the station associates anew: at once on the access point's return, since its driver has missed"
        " the beacons; or when it next has something to send",
        choices=("return", "send"),
    )
    stall_every_s: float | None = parameter(
        None, "mean time, memoryless, until the server stalls: no reply leaves until the stall is over",
        unit="s", at_least=1, at_most=1e9, optional=True,
    )  # fmt: skip
    stall_s: float = parameter(10.0, "length of a stall of the server", unit="s", at_least=0.001, at_most=1e6)
    patience_s: float | None = parameter(
        None, "time after which the user abandons a page", unit="s", at_least=0.001, at_most=1e6,
        optional=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_all(self, "faults")

    @property
    def on(self) -> bool:
        """Whether any of them can happen."""
        return any(each is not None for each in (self.restart_every_s, self.stall_every_s, self.patience_s))
