"""Guard of a user's own policy: its mistakes become errors that name it."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar

from psm_sim.errors import PluginError, safe_repr
from psm_sim.policies.base import Dtim, Frame, Policy, RadioPower, Rest
from psm_sim.policies.service_period import ServicePeriod
from psm_sim.poll import Poll
from psm_sim.user_code import calling, component_name, copy_component, to_plain

MAX_S = 1e9
"""The longest time awake, in seconds, that is not for ever."""

_PROBES = (
    (0.0, 0.0, None),
    (0.1, 0.1, Poll(100.0)),
    (0.2, 0.2, Poll(100.0, 1540, 2, ((40.0, 40), (41.0, 1500)))),
)


class GuardedPolicy(Policy):
    """Guard: passes every call on to *policy*, and checks what it answers.

    Raises
    ------
    PluginError
        From any call, if the policy fails in it, or its answer is no usable :class:`Rest`.
    """

    name: ClassVar[str] = "guarded"

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._now_s = 0.0

    @property
    def power(self) -> RadioPower:
        """The power that the policy reckons with."""
        return self.policy.power

    @power.setter
    def power(self, power: RadioPower) -> None:
        self.policy.power = power

    @property
    def dtim(self) -> Dtim:
        """The DTIM period that the policy reckons with."""
        return self.policy.dtim

    @dtim.setter
    def dtim(self, dtim: Dtim) -> None:
        self.policy.dtim = dtim

    @property
    def service(self) -> ServicePeriod | None:
        """The rule of the policy's service periods."""
        return self.policy.service

    def config(self) -> dict[str, Any]:
        """Return the policy's own parameters, as plain values that every report can hold."""
        with calling(f"Policy {self._label} failed in config()"):
            return to_plain(self.policy.config())

    def start(self, beacon_s: float) -> None:
        """Begin a run."""
        self._call("start", beacon_s)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Ask the policy, and check its answer."""
        self._now_s = now_s
        rest = self._call("rest", now_s, since_uplink_s, poll)
        answer = self._read(rest)
        if isinstance(answer, str):
            raise PluginError(f"Policy {self._label}: rest() at {now_s:g} s {answer}.")
        return answer

    def uplink(self, now_s: float) -> None:
        """Tell the policy of an uplink packet."""
        self._now_s = now_s
        self._call("uplink", now_s)

    def wants(self, hook: str) -> bool:
        """Say whether the policy itself has the hook."""
        return bool(self._call("wants", hook))

    def sent(self, now_s: float, frame: Frame) -> None:
        """Tell the policy of a frame sent."""
        self._call("sent", now_s, frame)

    def received(self, now_s: float, frame: Frame) -> None:
        """Tell the policy of a frame received."""
        self._call("received", now_s, frame)

    def interrupted(self, poll: Poll) -> None:
        """Tell the policy of a doze cut short."""
        self._call("interrupted", poll)

    def finish(self) -> None:
        """Tell the policy that the run is over."""
        self._call("finish")

    def report(self) -> dict[str, float]:
        """Return what the policy measured."""
        return dict(self._call("report"))

    @property
    def _label(self) -> str:
        return component_name(self.policy)

    def _call(self, method: str, *arguments: Any) -> Any:
        with calling(f"Policy {self._label} failed in {method}() at {self._now_s:g} s"):
            return getattr(self.policy, method)(*arguments)

    def _read(self, rest: Any) -> Rest | str:
        """Return the answer in plain numbers, or what is wrong with it."""
        with calling(f"Policy {self._label} returned a Rest at {self._now_s:g} s that fails"):
            return _fault(rest) or Rest(float(rest.awake_s), int(rest.beacons), bool(rest.repeat))


def guard_policy(policy: Policy) -> Policy:
    """Return a copy of *policy* for one run: a built-in one as it is, a user's own one tried and guarded.

    Raises
    ------
    PluginError
        If a user's policy cannot be copied, or fails or answers badly when it is tried.
    """
    fresh = copy_component(policy, f"Policy {component_name(policy)}")
    return fresh if type(policy).__module__.startswith("psm_sim.") else probe_and_guard(fresh)


def unwrap_policy(policy: Policy) -> Policy:
    """Return the policy itself, without its guard."""
    return policy.policy if isinstance(policy, GuardedPolicy) else policy


def probe_and_guard(policy: Policy) -> GuardedPolicy:
    """Return *policy* guarded, after a copy of it has answered a few questions.

    Raises
    ------
    PluginError
        As :func:`guard_policy`.
    """
    probe = GuardedPolicy(copy_component(policy, f"Policy {component_name(policy)}"))
    probe.config()
    probe.start(0.1)
    for question in _PROBES:
        probe.rest(*question)
    return GuardedPolicy(policy)


def _fault(rest: Any) -> str:
    if not isinstance(rest, Rest):
        return f"returned {safe_repr(rest)}; expected a Rest"
    awake_s: Any = rest.awake_s
    beacons: Any = rest.beacons
    if not _is_duration(awake_s):
        return f"returned awake_s={safe_repr(awake_s)}; expected seconds from 0 to {MAX_S:g}, or inf"
    if not isinstance(beacons, Integral) or not 1 <= int(beacons) <= 10**9:
        return f"returned beacons={safe_repr(beacons)}; expected a whole number from 1 to 10**9"
    if rest.repeat and awake_s:
        return f"returned repeat with awake_s={safe_repr(awake_s)}; expected awake_s=0 with repeat"
    return ""


def _is_duration(value: Any) -> bool:
    number: Any = value if isinstance(value, Real) else -1
    return bool(0 <= number <= MAX_S or number == math.inf)
