"""Parameters of LPSM, including choices that the sources leave open."""

from __future__ import annotations

from dataclasses import dataclass

from psm_sim.common.component_spec import Spec
from psm_sim.common.input_limits import MAX_MS, MAX_S, MAX_WEIGHT
from psm_sim.common.parameters import parameter
from psm_sim.losses import Loss


@dataclass
class LpsmParameters:
    """Parameters of :class:`~psm_sim.policies.lpsm.Lpsm`.

    Three parameters are choices that the sources leave open. ``uplink`` sets the doze after an uplink packet;
    its default, one beacon, has the lowest slowdown. ``acks`` decides whether an ACK that is sent while a
    poll's frames are retrieved counts as an uplink packet. Its default is the order of figure 2-4, which
    first retrieves the data and then sleeps for the predicted time. ``learn_on_uplink`` decides whether
    interrupted dozes are learnt from.
    """

    loss: str | Spec | Loss = parameter(
        "inverse-log", "loss of a polling time: name, formula or FILE.py:CLASS"
    )
    gamma: float | None = parameter(
        None,
        "weight of latency against energy (none: default of the loss)",
        above=0,
        at_most=MAX_WEIGHT,
        optional=True,
    )
    min_ms: float = parameter(100.0, "shortest polling time of an expert", unit="ms", above=0, at_most=MAX_MS)
    max_ms: float = parameter(1200.0, "longest polling time of an expert", unit="ms", above=0, at_most=MAX_MS)
    step_ms: float = parameter(
        100.0, "spacing of the experts' polling times", unit="ms", above=0, at_most=MAX_MS
    )
    horizon_s: float = parameter(
        2700.0, "horizon for which the switching rates are optimised", unit="s", above=0, at_most=MAX_S
    )
    after_uplink: str = parameter(
        "one",
        "after an uplink packet: doze one beacon, restart the polling time, or keep the planned beacon",
        name="uplink",
        choices=("one", "restart", "keep"),
    )
    acks: str = parameter(
        "poll",
        "whether a packet sent while frames are retrieved belongs to the poll or counts as an uplink packet",
        choices=("poll", "uplink"),
    )
    learn_on_uplink: bool = parameter(False, "whether to learn from dozes that an uplink packet interrupted")
    alpha: float | None = parameter(
        None,
        "fixed switching rate instead of Learn-alpha (0: Static-expert)",
        at_least=0,
        at_most=1,
        optional=True,
    )
    context: str = parameter(
        "none",
        "outstanding: separate learners with and without an outstanding request; none: one learner",
        choices=("none", "outstanding"),
    )
    state: str | None = parameter(
        None,
        "JSON file with the learner's state, read at the start if it exists and written after the run",
        optional=True,
        kind=str,
    )
