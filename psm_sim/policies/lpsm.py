"""LPSM: the polling time is learned online (thesis, section 2.5.3 and figure 2-4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from psm_sim.arrays import Floats
from psm_sim.errors import InputError, PluginError, reason
from psm_sim.learning import Learner, make_learner
from psm_sim.losses import Loss, Poll, check_loss, make_loss
from psm_sim.parameters import check_all, parameter, parameters_of, values_of
from psm_sim.policies.base import Frame, Policy, Rest
from psm_sim.policies.experts import polling_times_ms
from psm_sim.policies.flows import Flows
from psm_sim.policies.warm_start import WarmStart
from psm_sim.spec import Spec


@dataclass
class Lpsm(Policy):
    """Doze for the weighted mean of the experts' polling times, weights learned by Learn-alpha.

    Each expert is one polling time. At every wake-up for a beacon the experts suffer the loss that their
    time would have cost in the doze just ended, the weights move (equations 2.2 and 2.7), and the next
    doze is the mean of the times (2.32), rounded to the nearest beacon. The switching rates are chosen
    for ``horizon_s`` seconds of polls, a beacon apart (section 2.3).

    Two choices that the sources leave open are parameters: how long to doze after an uplink packet, and
    whether a doze that an uplink packet cut short is learned from. The default of the first, one beacon,
    has the least slowdown.

    With ``context=outstanding`` one memory learns and predicts while a request is outstanding, another one
    while none is, and only a packet that waits for a reply is followed by a doze of one beacon; ``uplink`` is
    not used. This is none of the sources'.

    With ``state`` the learner goes on from what that file held when the policy was made, and its state is
    written there when a run is over. Such a run depends on the file as well as on its parameters.
    """

    name: ClassVar[str] = "lpsm"

    loss: str | Spec | Loss = parameter(
        "inverse-log", "loss of a polling time: a name, a formula or FILE.py:CLASS"
    )
    gamma: float | None = parameter(
        None, "the loss's weight of latency against energy; none: its own default", above=0, optional=True
    )
    min_ms: float = parameter(100.0, "shortest polling time among the experts", unit="ms", above=0)
    max_ms: float = parameter(1200.0, "longest polling time among the experts", unit="ms", above=0)
    step_ms: float = parameter(100.0, "spacing of the experts' polling times", unit="ms", above=0)
    horizon_s: float = parameter(2700.0, "time for which the switching rates are chosen", unit="s", above=0)
    after_uplink: str = parameter(
        "one",
        "doze after an uplink packet: one beacon; restart the full time; keep the planned poll",
        name="uplink",  # which as an attribute is the policy's hook
        choices=("one", "restart", "keep"),
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

    def __post_init__(self) -> None:
        check_all(self, "policy lpsm")
        self._loss = make_loss(self.loss, self.gamma)
        self.times_ms = polling_times_ms(self.min_ms, self.max_ms, self.step_ms, "policy lpsm")
        check_loss(self._loss, self.times_ms)
        if self.state is not None and self.context != "none":
            raise InputError(
                f"policy lpsm: context is {self.context}; expected none with state, which holds one memory."
            )
        self._warm_start = None if self.state is None else WarmStart(self.state)
        self.learner: Learner
        self._flows = Flows()
        self._memories: list[Learner] = []
        self._beacons = 1
        self._planned = 0

    def config(self) -> dict[str, Any]:
        """Return the parameters as plain values, those of the loss with its ``gamma`` included."""
        values = {name: getattr(self, each.attribute) for name, each in parameters_of(Lpsm).items()}
        loss = self._loss.name if isinstance(self.loss, Loss) else str(self.loss)
        return {**values, "loss": loss, "gamma": values_of(self._loss).get("gamma")}

    def start(self, beacon_s: float) -> None:
        """Begin with the saved weights or uniform ones; those begin with the mean of the experts' times."""
        self.beacon_s = beacon_s
        self._planned = 0
        self._flows = Flows()
        self._loss.start()
        share = Spec("fixed-share").with_("alpha", self.alpha)
        learner = Spec("learn-alpha") if self.alpha is None else share
        polls = max(1, round(self.horizon_s / beacon_s))
        count = 1 if self.context == "none" else 2
        self._memories = [make_learner(learner, self.times_ms.size, polls) for _ in range(count)]
        self.learner = self._memories[0]
        if self._warm_start is not None:
            self._warm_start.load(self.learner, self.times_ms)
        self._predict()

    def finish(self) -> None:
        """Save what was learned, if that is wanted."""
        if self._warm_start is not None:
            self._warm_start.save(self.learner, self.times_ms)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Learn from the poll, and doze for the time predicted."""
        next_beacon = self.beacon_grid.after(now_s)
        if poll is not None:
            self._learn(poll)
            self._loss.observe(poll)
        if len(self._memories) > 1:
            beacons = self._in_context(poll)
        elif poll is not None:
            beacons = self._beacons
        elif self.after_uplink == "keep":
            beacons = max(1, self._planned - next_beacon + 1)
        else:
            beacons = 1 if self.after_uplink == "one" else self._beacons
        self._planned = next_beacon + beacons - 1
        return Rest(beacons=beacons)

    def interrupted(self, poll: Poll) -> None:
        """Learn from a doze cut short, if that is wanted; the loss is told in any case."""
        if self.learn_on_uplink and poll.slept_ms > 0:
            self._learn(poll)
        self._loss.observe(poll)

    def wants(self, hook: str) -> bool:
        """Ask for frames only if their context counts."""
        return self.context != "none"

    def sent(self, now_s: float, frame: Frame) -> None:
        """Take note that a request is outstanding, or no more."""
        self._flows.sent(frame)

    def received(self, now_s: float, frame: Frame) -> None:
        """Take note of a reply."""
        self._flows.received(frame)

    def _in_context(self, poll: Poll | None) -> int:
        """Take up the memory of the present context; after an uplink packet that waits, one beacon."""
        waiting = self._flows.waiting > 0
        self.learner = self._memories[waiting]
        self._predict()
        return 1 if waiting and poll is None else self._beacons

    def losses(self, poll: Poll) -> Floats:
        """Return what each expert's time would have cost in the doze just ended, shape (n,), in nats.

        Raises
        ------
        PluginError
            If the loss fails.
        """
        try:
            return self._loss(poll, self.times_ms)
        except Exception as error:
            raise PluginError(
                f"Loss {self._loss.name} failed with {poll.held_bytes} bytes held after {poll.slept_ms:g} ms"
                f" asleep: {reason(error)}; mend the loss."
            ) from error

    def _learn(self, poll: Poll) -> None:
        self.learner.update(self.losses(poll))
        self._predict()

    def _predict(self) -> None:
        polling_s = self.learner.predict(self.times_ms) / 1000
        self._beacons = max(1, int(polling_s / self.beacon_s + 0.5))
