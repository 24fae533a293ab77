"""LPSM, which learns the polling time online (thesis, section 2.5.3 and figure 2-4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

from psm_sim.common.array_types import FloatArray
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, PluginError
from psm_sim.common.input_limits import MAX_MS, MAX_TIME_S, MAX_WEIGHT
from psm_sim.common.parameters import check_all, parameter, parameters_of, values_of
from psm_sim.learning import FixedShare, Learner, make_learner
from psm_sim.learning.factory import guarded_learner
from psm_sim.learning.repeated_loss_lookahead import Lookahead
from psm_sim.losses import Context, Loss, Poll, check_loss, make_loss
from psm_sim.losses.user_loss_guard import guarded_loss, takes_context
from psm_sim.policies.base import Frame, Plan, Policy, Rest
from psm_sim.policies.helpers.outstanding_requests import OutstandingRequests
from psm_sim.policies.helpers.page_delays import ActivityPeriod, PageDelays
from psm_sim.policies.helpers.polling_times import (
    MEAN,
    ROUNDING_OFFSET,
    RULES,
    IdlePlan,
    PredictionRule,
    polling_times_ms,
    polls_in_horizon,
)


@dataclass
class Lpsm(Policy):
    """Policy that dozes for the weighted mean of the experts' polling times (LPSM).

    Each expert is one polling time, and a learner, Learn-alpha by default, learns the weights. At every
    wake-up for a beacon, each expert suffers the loss that its polling time would have had in the doze just
    ended. The weights are then updated (thesis, eqs. 2.2 and 2.7). The next doze is the weighted mean of the
    polling times (eq. 2.32), rounded to the nearest beacon. ``rule`` selects another prediction from the
    weights. The switching rates are optimised for ``horizon_s`` seconds with one poll per beacon (section
    2.3).

    The sources leave three parameters open. ``uplink`` sets the doze after an uplink packet; its default, one
    beacon, has the lowest slowdown. ``acks`` decides whether an ACK sent during the retrieval of buffered
    frames counts as an uplink packet. By default it does not, because the station of figure 2-4 retrieves the
    data and then sleeps for the predicted time. ``learn_on_uplink`` decides whether LPSM learns from
    interrupted dozes.

    A loss of a page is learnt when the next page begins, from the delays that
    :class:`~psm_sim.policies.helpers.page_delays.PageDelays` estimates. These estimates assume the
    defaults of the three parameters.
    """

    name: ClassVar[str] = "lpsm"

    loss: str | Spec | Loss = parameter(
        "inverse-log", "loss of a polling time: name, formula or FILE.py:CLASS"
    )
    gamma: float | None = parameter(
        None,
        "weight of latency against energy (none: default of the loss)",
        above=0,
        at_most=MAX_WEIGHT,
    )
    min_ms: float = parameter(100.0, "shortest polling time of an expert", unit="ms", above=0, at_most=MAX_MS)
    max_ms: float = parameter(1200.0, "longest polling time of an expert", unit="ms", above=0, at_most=MAX_MS)
    step_ms: float = parameter(
        100.0, "spacing of the experts' polling times", unit="ms", above=0, at_most=MAX_MS
    )
    horizon_s: float = parameter(
        2700.0,
        "horizon for which the switching rates are optimised",
        unit="s",
        above=0,
        at_most=MAX_TIME_S,
        expert=True,
        requires="alpha=none",
    )
    after_uplink: str = parameter(
        "one",
        "after an uplink packet: doze one beacon, restart the polling time, or keep the planned beacon",
        name="uplink",
        choices=("one", "restart", "keep"),
        expert=True,
    )
    acks: str = parameter(
        "poll",
        "whether a packet that is sent during a retrieval belongs to the poll, or counts as an uplink packet",
        choices=("poll", "uplink"),
        expert=True,
    )
    learn_on_uplink: bool = parameter(
        False, "whether to learn from dozes that an uplink packet interrupted", expert=True
    )
    alpha: float | None = parameter(
        None,
        "fixed switching rate instead of Learn-alpha (0: Static-expert)",
        at_least=0,
        at_most=1,
    )
    context: str = parameter(
        "none",
        "outstanding: separate learners with and without an outstanding request; none: one learner",
        choices=("none", "outstanding"),
        expert=True,
    )
    learner_spec: str | Spec = parameter(
        "learn-alpha",
        "learner of the weights instead of a fixed switching rate: learn-alpha or FILE.py:CLASS",
        name="learner",
        requires="alpha=none",
    )
    rule: str = parameter(
        "mean",
        f"polling time from the weights and times of the experts: {', '.join(RULES)}",
    )

    def __post_init__(self) -> None:
        check_all(self, "policy lpsm")
        self._loss = make_loss(self.loss, self.gamma)
        self.times_ms = polling_times_ms(self.min_ms, self.max_ms, self.step_ms, "policy lpsm")
        check_loss(self._loss, self.times_ms)
        self._gamma = values_of(self._loss).get("gamma")
        self._takes_context = takes_context(self._loss)
        self.is_per_page = self._loss.per == "page"
        self._loss = guarded_loss(self._loss)
        self._rule = PredictionRule(self.rule, self.times_ms, "policy lpsm")
        self._new_learner(horizon=2)  # finds errors before the run
        self.learner: Learner
        self._contexts: ContextLearners | None = None
        self._beacons, self._planned = 1, 0
        self._idle: FloatArray | None = None
        self._plan: Plan | None = None
        self._sent_since_rest = False

    def config(self) -> dict[str, Any]:
        """Return the parameters as plain values, including the loss and its ``gamma``."""
        values = {name: getattr(self, entry.attribute) for name, entry in parameters_of(Lpsm).items()}
        loss = self._loss.name if isinstance(self.loss, Loss) else str(self.loss)
        return {**values, "loss": loss, "gamma": self._gamma, "learner": str(self.learner_spec)}

    def start(self, beacon_s: float) -> None:
        """Start with uniform weights, so that the first polling time is the mean of all."""
        super().start(beacon_s)
        self._planned = 0
        self._loss.start()
        self._rule.start()
        polls = polls_in_horizon(self.horizon_s, beacon_s, "policy lpsm")
        self.learner = self._new_learner(polls)
        if self.context != "none":
            self._contexts = ContextLearners(self.learner, self._new_learner(polls))
        self._flows, self._asked_s, self._doze = OutstandingRequests(), 0.0, (0, 0.0)
        self._pages = PageDelays(self.times_ms, self.beacon_grid) if self.is_per_page else None
        self._delays: tuple[FloatArray | float, float] = 0.0, 0.0
        is_fixed = not (self._takes_context or self.is_per_page)
        self._idle = self._loss.idle(self.times_ms) if is_fixed else None
        # A subclass may override how it learns from a poll, so it must be called at each beacon.
        plans = type(self) is Lpsm and self._idle is not None and self.rule == MEAN
        self._plan = (
            IdlePlan(self._lookahead, self._continue_after_plan, self.times_ms, beacon_s) if plans else None
        )
        self._predict()

    def _new_learner(self, horizon: int) -> Learner:
        if self.alpha is not None:
            return FixedShare(self.times_ms.size, self.alpha)
        return guarded_learner(make_learner(self.learner_spec, self.times_ms.size, horizon))

    def report(self) -> dict[str, float]:
        """Return the measurements of the loss."""
        return self._loss.report()

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Learn from the poll, and doze for the predicted time."""
        next_beacon = self.beacon_grid.after(now_s)
        if self._pages is not None:
            self._pages.rest(now_s, poll)
        if poll is not None and not self.is_per_page:
            self._learn(poll)
            self._loss.observe(poll)
        self._doze = self._flows.waiting, now_s - self._asked_s
        if self._contexts is not None:
            beacons = self._switch_context(self._contexts, poll)
        else:
            beacons = self._doze_after_poll() if poll is not None else self._doze_after_uplink(next_beacon)
        self._planned, self._sent_since_rest = next_beacon + beacons - 1, False
        # Offer a plan only after an empty poll. Most dozes during a page end with frames and need no plan.
        is_idle = poll is not None and not poll.buffered_frames
        plan = self._plan if is_idle else None
        return Rest(beacons=beacons, repeat=is_idle and self.is_per_page, plan=plan)

    def uplink(self, now_s: float) -> None:
        """Handle an uplink packet."""
        self._sent_since_rest = True

    def interrupted(self, poll: Poll) -> None:
        """Learn from an interrupted doze if ``learn_on_uplink`` is set.

        A loss with ``per="doze"`` observes the doze even if ``learn_on_uplink`` is false.
        """
        if self._pages is not None:
            self._pages.interrupted(poll)
        if self.is_per_page:
            return
        if self.learn_on_uplink and poll.slept_ms > 0:
            self._learn(poll)
        self._loss.observe(poll)

    def wants(self, hook: str) -> bool:
        """Return whether the policy needs calls of *hook*.

        It always needs ``"uplink"``. A context, a loss of a page or a subclass can require the other hooks.
        """
        is_overridden = getattr(type(self), hook) is not getattr(Lpsm, hook)
        is_used = self.context != "none" or self._takes_context or self.is_per_page
        return hook == "uplink" or is_used or is_overridden

    def sent(self, now_s: float, frame: Frame) -> None:
        """Update the context with a frame sent, and learn the last page if the frame begins another one."""
        if not self._flows.waiting:
            self._asked_s = now_s
        self._flows.sent(frame)
        page = None if self._pages is None else self._pages.sent(now_s, frame)
        if page is not None:
            self._learn_page(page)

    def _learn_page(self, page: ActivityPeriod) -> None:
        """Learn a page; with contexts, the waiting and the idle time with separate learners."""
        self._delays = page.delays_ms, page.elapsed_ms
        if self._contexts is None:
            self._learn_part(replace(page.waiting, slept_ms=page.waiting.slept_ms + page.idle_ms))
            return
        self.learner = self._contexts.waiting
        self._learn_part(page.waiting)
        self._delays, self.learner = (0.0, 0.0), self._contexts.idle
        self._learn_part(Poll(page.idle_ms))

    def _learn_part(self, poll: Poll) -> None:
        if poll.slept_ms > 0:
            self._learn(poll)
            self._loss.observe(poll)

    def received(self, now_s: float, frame: Frame) -> None:
        """Update the context with a frame received."""
        self._flows.received(frame)
        if self._pages is not None:
            self._pages.received(now_s, frame)

    def _switch_context(self, contexts: ContextLearners, poll: Poll | None) -> int:
        """Use the learner of the current context and return its doze.

        After an uplink packet with an outstanding request, the doze is one beacon.
        """
        self.learner = contexts.waiting if self._flows.waiting else contexts.idle
        self._predict()
        return 1 if self._flows.waiting and poll is None else self._beacons

    def losses(self, poll: Poll) -> FloatArray:
        """Return the loss of each expert for the doze or page *poll*, shape (n,), in nats.

        Raises
        ------
        PluginError
            If the loss fails.
        """
        return self._loss(poll, self.times_ms, *self.loss_context(poll))

    def loss_context(self, poll: Poll) -> tuple[Context, ...]:
        """Return a tuple with the context of the doze or page, or an empty tuple if the loss accepts none."""
        if not self._takes_context:
            return ()
        power = self.power
        radio = power.awake_w, power.asleep_w, power.beacon_j, 1000 * self.beacon_s
        if self.is_per_page:
            delays_ms, elapsed_ms = self._delays
            return (Context(*radio, delays_ms=delays_ms, elapsed_ms=elapsed_ms),)
        outstanding, asked_s = self._doze
        waited_ms = 1000 * asked_s + poll.slept_ms if outstanding else 0.0
        return (Context(*radio, outstanding, waited_ms),)

    def _doze_after_poll(self) -> int:
        # "restart" means the full polling time here as well, and "keep" has no planned beacon left.
        is_uplink = self.acks == "uplink" and self._sent_since_rest and self.after_uplink == "one"
        return 1 if is_uplink else self._beacons

    def _doze_after_uplink(self, next_beacon: int) -> int:
        if self.after_uplink == "keep":
            return max(1, self._planned - next_beacon + 1)
        return 1 if self.after_uplink == "one" else self._beacons

    def _learn(self, poll: Poll) -> None:
        try:
            self.learner.update(self.losses(poll))
        except PluginError:
            raise
        except InputError as fault:  # a formula may overflow in a run; add its name
            raise InputError(
                f"Loss {self._loss} with {poll.buffered_bytes} bytes buffered after {poll.slept_ms:g} ms "
                f"asleep: {fault}"
            ) from fault
        self._predict()

    def _lookahead(self) -> Lookahead | None:
        return None if self._idle is None else self.learner.lookahead(self._idle)

    def _continue_after_plan(self, until: int) -> None:
        """Predict the next doze after a plan. *until* is the number of the beacon that ends the last doze."""
        self._predict()
        self._planned = until

    def _predict(self) -> None:
        self.polling_ms = self._rule.predict(self.learner)
        self._beacons = max(1, int(self.polling_ms / (1000 * self.beacon_s) + ROUNDING_OFFSET))


class ContextLearners(NamedTuple):
    """Learners for dozes without (``idle``) and with an outstanding request (``waiting``).

    The sources use one learner for all dozes. After an uplink packet, LPSM dozes one beacon if a reply is
    awaited, and else as the idle learner predicts.
    """

    idle: Learner
    waiting: Learner
