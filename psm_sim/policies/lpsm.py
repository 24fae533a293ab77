"""LPSM: the polling time is learned online (thesis, section 2.5.3 and figure 2-4)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from psm_sim.beacons import beacon_after
from psm_sim.errors import InputError, PluginError
from psm_sim.learning import FixedShare, LearnAlpha, Learner, switching_rates
from psm_sim.losses import Loss, Poll, check_loss, make_loss
from psm_sim.losses.base import Floats
from psm_sim.parameters import parameters_of, values_of
from psm_sim.policies.base import Policy, Rest
from psm_sim.policies.warm_start import WarmStart


class Lpsm(Policy):
    """Doze for the weighted mean of the experts' polling times, weights learned by Learn-alpha.

    Each expert is one polling time. At every wake-up for a beacon the experts suffer the loss that their
    time would have cost in the doze just ended, the weights move (equations 2.2 and 2.7), and the next
    doze is the mean of the times (2.32), rounded to the nearest beacon. The switching rates are chosen
    for ``horizon_s`` seconds of polls, a beacon apart (section 2.3).

    Two choices that the sources leave open are parameters: how long to doze after an uplink packet, and
    whether a doze that an uplink packet cut short is learned from. The default of the first, one beacon,
    has the least slowdown.

    With ``state`` the learner goes on from what that file held when the policy was made, and its state is
    written there when a run is over. Such a run depends on the file as well as on its parameters.
    """

    name = "lpsm"
    DECLARED: ClassVar[dict[str, dict[str, Any]]] = {
        "loss": {"help": "loss of a polling time: a name, a formula or FILE.py:CLASS"},
        "gamma": {
            "help": "the loss's weight of latency against energy; none: its own default",
            "above": 0,
            "optional": True,
        },
        "min_ms": {"help": "shortest polling time among the experts", "unit": "ms", "above": 0},
        "max_ms": {"help": "longest polling time among the experts", "unit": "ms", "above": 0},
        "step_ms": {"help": "spacing of the experts' polling times", "unit": "ms", "above": 0},
        "horizon_s": {"help": "time for which the switching rates are chosen", "unit": "s", "above": 0},
        "uplink": {
            "help": "doze after an uplink packet: one beacon; restart the full time; keep the planned poll",
            "choices": ("one", "restart", "keep"),
        },
        "learn_on_uplink": {"help": "learn also from a doze that an uplink packet cut short"},
        "alpha": {
            "help": "one fixed switching rate in place of Learn-alpha; 0: Static-expert",
            "at_least": 0,
            "at_most": 1,
            "optional": True,
        },
        "state": {
            "help": "JSON file with a learner's state: read, if there is one, and written after the run",
            "optional": True,
            "kind": str,
        },
    }

    def __init__(
        self,
        loss: str | Loss = "inverse-log",
        gamma: float | None = None,
        min_ms: float = 100.0,
        max_ms: float = 1200.0,
        step_ms: float = 100.0,
        horizon_s: float = 2700.0,
        uplink: str = "one",
        learn_on_uplink: bool = False,
        alpha: float | None = None,
        state: str | None = None,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in self.DECLARED}
        for name, declared in parameters_of(Lpsm).items():
            declared.check(given[name], "policy lpsm")
        self.loss = make_loss(loss, gamma)
        self.times_ms = _times(min_ms, max_ms, step_ms)
        check_loss(self.loss, self.times_ms)
        self._given = given
        self._after_uplink, self._learns_on_uplink = uplink, learn_on_uplink
        self._horizon_s, self._alpha = horizon_s, alpha
        self._warm_start = None if state is None else WarmStart(state)
        self.learner: Learner
        self._beacons = 1
        self._planned = 0

    def config(self) -> dict[str, Any]:
        """Return the parameters as plain values, those of the loss with its ``gamma`` included."""
        loss = self._given["loss"]
        gamma = values_of(self.loss).get("gamma")
        return {**self._given, "loss": loss if isinstance(loss, str) else self.loss.name, "gamma": gamma}

    def start(self, beacon_s: float) -> None:
        """Begin with the saved weights or uniform ones; those begin with the mean of the experts' times."""
        super().start(beacon_s)
        self._planned = 0
        self.loss.start()
        experts = self.times_ms.size
        if self._alpha is None:
            self.learner = LearnAlpha(
                experts, switching_rates(horizon=max(1, round(self._horizon_s / beacon_s)))
            )
        else:
            self.learner = FixedShare(experts, self._alpha)
        if self._warm_start is not None:
            self._warm_start.load(self.learner, self.times_ms)
        self._predict()

    def finish(self) -> None:
        """Save what was learned, if that is wanted."""
        if self._warm_start is not None:
            self._warm_start.save(self.learner, self.times_ms)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Learn from the poll, and doze for the time predicted."""
        next_beacon = beacon_after(now_s, self.beacon_s)
        if poll is not None:
            self._learn(poll)
            self.loss.observe(poll)
            beacons = self._beacons
        elif self._after_uplink == "keep":
            beacons = max(1, self._planned - next_beacon + 1)
        else:
            beacons = 1 if self._after_uplink == "one" else self._beacons
        self._planned = next_beacon + beacons - 1
        return Rest(beacons=beacons)

    def interrupted(self, poll: Poll) -> None:
        """Learn from a doze cut short, if that is wanted; the loss is told in any case."""
        if self._learns_on_uplink and poll.slept_ms > 0:
            self._learn(poll)
        self.loss.observe(poll)

    def _learn(self, poll: Poll) -> None:
        try:
            losses = self.loss(poll, self.times_ms)
        except Exception as error:
            raise PluginError(
                f"Loss {self.loss.name} failed with {poll.held_bytes} bytes held after {poll.slept_ms:g} ms"
                f" asleep: {type(error).__name__}: {error}; mend the loss."
            ) from error
        self.learner.update(losses)
        self._predict()

    def _predict(self) -> None:
        polling_s = self.learner.predict(self.times_ms) / 1000
        self._beacons = max(1, int(polling_s / self.beacon_s + 0.5))


def _times(min_ms: float, max_ms: float, step_ms: float) -> Floats:
    if max_ms < min_ms:
        raise InputError(f"policy lpsm: max_ms is {max_ms:g}; expected at least min_ms, which is {min_ms:g}.")
    count = int((max_ms - min_ms) / step_ms + 1e-9) + 1
    if not 2 <= count <= 10_000:
        raise InputError(
            f"policy lpsm: min_ms={min_ms:g}, max_ms={max_ms:g}, step_ms={step_ms:g} give {count} experts;"
            " expected 2 to 10000."
        )
    return min_ms + step_ms * np.arange(count, dtype=np.float64)
