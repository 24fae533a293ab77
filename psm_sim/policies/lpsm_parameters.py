"""Parameters of LPSM, and what the sources leave open of it."""

from __future__ import annotations

from dataclasses import dataclass

from psm_sim.component_spec import Spec
from psm_sim.limits import MAX_MS, MAX_S, MAX_WEIGHT
from psm_sim.losses import Loss
from psm_sim.parameters import parameter


@dataclass
class LpsmParameters:
    """What LPSM is told.

    Three choices that the sources leave open are parameters: how long to doze after an uplink packet; whether
    an ACK sent while a poll's frames are fetched is one; and whether a doze that an uplink packet cut short
    is learned from. The default of the first, one beacon, has the least slowdown. That of the second is the
    order of figure 2-4: retrieve the data, then sleep for the time predicted.
    """

    loss: str | Spec | Loss = parameter(
        "inverse-log", "loss of a polling time: a name, a formula or FILE.py:CLASS"
    )
    gamma: float | None = parameter(
        None,
        "the loss's weight of latency against energy; none: its own default",
        above=0,
        at_most=MAX_WEIGHT,
        optional=True,
    )
    min_ms: float = parameter(
        100.0, "shortest polling time among the experts", unit="ms", above=0, at_most=MAX_MS
    )
    max_ms: float = parameter(
        1200.0, "longest polling time among the experts", unit="ms", above=0, at_most=MAX_MS
    )
    step_ms: float = parameter(
        100.0, "spacing of the experts' polling times", unit="ms", above=0, at_most=MAX_MS
    )
    horizon_s: float = parameter(
        2700.0, "time for which the switching rates are chosen", unit="s", above=0, at_most=MAX_S
    )
    after_uplink: str = parameter(
        "one",
        "doze after an uplink packet: one beacon; restart the full time; keep the planned poll",
        name="uplink",
        choices=("one", "restart", "keep"),
    )
    acks: str = parameter(
        "poll",
        "a packet sent while a poll's frames are fetched belongs to the poll, which the full time follows; or"
        " is an uplink packet",
        choices=("poll", "uplink"),
    )
    learn_on_uplink: bool = parameter(False, "learn also from a doze that an uplink packet cut short")
    alpha: float | None = parameter(
        None,
        "one fixed switching rate in place of Learn-alpha; 0: Static-expert",
        at_least=0,
        at_most=1,
        optional=True,
    )
    context: str = parameter(
        "none",
        "none: one memory; outstanding: one while a request is outstanding and one while none is",
        choices=("none", "outstanding"),
    )
    state: str | None = parameter(
        None,
        "JSON file with a learner's state: read, if there is one, and written after the run",
        optional=True,
        kind=str,
    )
    compiled: str = parameter(
        "no",
        "yes: Learn-alpha's rounds are compiled by Numba (psm_sim[fast]); auto: so after 100,000 of them, if"
        " that can be",
        choices=("no", "auto", "yes"),
    )
