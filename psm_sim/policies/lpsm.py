"""LPSM: the polling time is learned online (thesis, section 2.5.3 and figure 2-4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from psm_sim.array_types import FloatArray
from psm_sim.component_spec import Spec
from psm_sim.errors import InputError, PluginError
from psm_sim.learning import Learner, make_learner
from psm_sim.learning.lookahead import Lookahead
from psm_sim.learning.round_backends import check_numba
from psm_sim.losses import Loss, Poll, check_loss, make_loss
from psm_sim.losses.user_loss_guard import describe_poll, guarded_loss
from psm_sim.parameters import check_all, parameters_of, values_of
from psm_sim.policies.base import Frame, Plan, Policy, Rest
from psm_sim.policies.context_learners import ContextLearners
from psm_sim.policies.idle_plan import HALF, IdlePlan
from psm_sim.policies.lpsm_parameters import LpsmParameters
from psm_sim.policies.polling_time_grid import polling_times_ms, polls_in_horizon
from psm_sim.policies.warm_start import WarmStart


@dataclass
class Lpsm(LpsmParameters, Policy):
    """Doze for the weighted mean of the experts' polling times; Learn-alpha learns the weights.

    Each expert is one polling time. At every wake-up for a beacon each expert suffers the loss that its
    time would have cost in the doze just ended, the weights are revised (equations 2.2 and 2.7), and the
    next doze is the weighted mean of the times (2.32), rounded to the nearest beacon. The switching rates
    are chosen for ``horizon_s`` seconds with one poll per beacon (section 2.3).

    With ``state`` the learner goes on from what that file held when the policy was made, and its state is
    written there when a run is over. Such a run depends on the file as well as on its parameters.
    """

    name: ClassVar[str] = "lpsm"

    def __post_init__(self) -> None:
        check_all(self, "policy lpsm")
        self._loss = make_loss(self.loss, self.gamma)
        self.times_ms = polling_times_ms(self.min_ms, self.max_ms, self.step_ms, "policy lpsm")
        check_loss(self._loss, self.times_ms)
        if self.state is not None and self.context != "none":
            raise InputError("policy lpsm: context is outstanding; expected none with state: one memory.")
        if self.alpha is not None and self.compiled != "no":
            raise InputError(
                f"policy lpsm: compiled is {self.compiled}; expected no with alpha: it is not Learn-alpha."
            )
        if self.compiled == "yes":
            check_numba("policy lpsm")
        self._gamma = values_of(self._loss).get("gamma")
        self._loss = guarded_loss(self._loss)
        self._warm_start = None if self.state is None else WarmStart(self.state)
        self.learner: Learner
        self._memories: ContextLearners | None = None
        self._beacons, self._planned = 1, 0
        self._idle: FloatArray | None = None
        self._rests, self._planned_rests = RestCache(None), RestCache(None)
        self._sent_since_rest = False

    def config(self) -> dict[str, Any]:
        """Return the parameters as plain values, those of the loss with its ``gamma`` included."""
        values = {name: getattr(self, each.attribute) for name, each in parameters_of(Lpsm).items()}
        loss = self._loss.name if isinstance(self.loss, Loss) else str(self.loss)
        return {**values, "loss": loss, "gamma": self._gamma}

    def start(self, beacon_s: float) -> None:
        """Begin with the saved weights, or with uniform ones: the first time is then the mean of all."""
        super().start(beacon_s)
        self._planned = 0
        self._loss.start()
        share = Spec("fixed-share").with_("alpha", self.alpha)
        learner = Spec("learn-alpha").with_("compiled", self.compiled) if self.alpha is None else share
        polls = polls_in_horizon(self.horizon_s, beacon_s, "policy lpsm")
        self.learner = make_learner(learner, self.times_ms.size, polls)
        if self.context != "none":
            self._memories = ContextLearners(self.learner, make_learner(learner, self.times_ms.size, polls))
        if self._warm_start is not None:
            self._warm_start.load(self.learner, self.times_ms)
        self._idle = self._loss.idle(self.times_ms)
        # A class derived from this one can learn in its own way from each poll, and is asked at each.
        plans = type(self) is Lpsm and self._idle is not None
        plan = IdlePlan(self._look, self._fast_forward, self.times_ms, beacon_s) if plans else None
        self._planned_rests = RestCache(plan)
        self._predict()

    def finish(self) -> None:
        """Save what was learned, if a state file was named."""
        if self._warm_start is not None:
            self._warm_start.save(self.learner, self.times_ms)

    def report(self) -> dict[str, float]:
        """Return what the loss measured."""
        return self._loss.report()

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Learn from the poll, and doze for the time predicted."""
        next_beacon = self.beacon_grid.after(now_s)
        if poll is not None:
            self._learn(poll)
            self._loss.observe(poll)
        if self._memories is not None:
            beacons = self._switch_context(self._memories, poll)
        else:
            beacons = self._doze_after_poll() if poll is not None else self._doze_after_uplink(next_beacon)
        self._planned, self._sent_since_rest = next_beacon + beacons - 1, False
        # After a first empty poll: most dozes during a page end with frames, and need no plan.
        rests = self._rests if poll is None or poll.buffered_frames else self._planned_rests
        return rests[beacons]

    def uplink(self, now_s: float) -> None:
        """Note that a packet is sent."""
        self._sent_since_rest = True

    def interrupted(self, poll: Poll) -> None:
        """Learn from a doze cut short if ``learn_on_uplink`` is set; the loss is told in any case."""
        if self.learn_on_uplink and poll.slept_ms > 0:
            self._learn(poll)
        self._loss.observe(poll)

    def wants(self, hook: str) -> bool:
        """Say whether the context counts, or a class derived from it has the *hook*."""
        return self.context != "none" or getattr(type(self), hook) is not getattr(Lpsm, hook)

    def sent(self, now_s: float, frame: Frame) -> None:
        """Tell the memories of a frame sent."""
        if self._memories:
            self._memories.sent(frame)

    def received(self, now_s: float, frame: Frame) -> None:
        """Tell the memories of a frame received."""
        if self._memories is not None:
            self._memories.received(frame)

    def _switch_context(self, memories: ContextLearners, poll: Poll | None) -> int:
        """Take up the memory of the present context; after an uplink packet that waits, one beacon."""
        self.learner = memories.present
        self._predict()
        return 1 if memories.is_waiting and poll is None else self._beacons

    def losses(self, poll: Poll) -> FloatArray:
        """Return what each expert's time would have cost in the doze just ended, shape (n,), in nats.

        Raises
        ------
        PluginError
            If the loss fails.
        """
        return self._loss(poll, self.times_ms)

    def _doze_after_poll(self) -> int:
        # A restart would be the full time too, and of a poll that has just been there is nothing to keep.
        cut = self.acks == "uplink" and self._sent_since_rest and self.after_uplink == "one"
        return 1 if cut else self._beacons

    def _doze_after_uplink(self, next_beacon: int) -> int:
        if self.after_uplink == "keep":
            return max(1, self._planned - next_beacon + 1)
        return 1 if self.after_uplink == "one" else self._beacons

    def _learn(self, poll: Poll) -> None:
        try:
            self.learner.update(self.losses(poll))
        except PluginError:
            raise
        except InputError as fault:  # a formula can overflow late; the learner does not know its name
            raise InputError(f"Loss {self._loss} with {describe_poll(poll)}: {fault}") from fault
        self._predict()

    def _look(self) -> Lookahead | None:
        return None if self._idle is None else self.learner.lookahead(self._idle)

    def _fast_forward(self, ahead: Lookahead, heard: int, until: int) -> None:
        """Learn from so many beacons *heard* as planned; it dozes *until* the beacon of that number."""
        self.learner.fast_forward(ahead, heard)
        self._predict()
        self._planned = until

    def _predict(self) -> None:
        self.polling_ms = self.learner.predict(self.times_ms)
        self._beacons = max(1, int(self.polling_ms / (1000 * self.beacon_s) + HALF))


class RestCache(dict[int, Rest]):
    """Rests of one *plan* by the beacons that they last, each of which is made once."""

    def __init__(self, plan: Plan | None) -> None:
        super().__init__()
        self._plan = plan

    def __missing__(self, beacons: int) -> Rest:
        """Make it."""
        rest = self[beacons] = Rest(beacons=beacons, plan=self._plan)
        return rest
