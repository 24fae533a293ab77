"""Guard of a user's own policy: its mistakes become errors that name it."""

from __future__ import annotations

import copy
from numbers import Integral, Real
from typing import Any, ClassVar

from psm_sim.errors import InputError, PluginError, reason
from psm_sim.policies.base import Frame, Policy, RadioPower, Rest
from psm_sim.poll import Poll

_PROBES = (
    (0.0, 0.0, None),
    (0.1, 0.1, Poll(100.0)),
    (0.2, 0.2, Poll(100.0, 1540, 2, ((40.0, 40), (41.0, 1500)))),
)


class Guarded(Policy):
    """Guard: passes every call on to *policy*, and checks what it answers.

    Raises
    ------
    PluginError
        From any call, if the policy fails in it, or its answer is no usable :class:`Rest`.
    """

    name: ClassVar[str] = "guarded"

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    @property
    def power(self) -> RadioPower:
        """The power that the policy reckons with."""
        return self.policy.power

    @power.setter
    def power(self, power: RadioPower) -> None:
        self.policy.power = power

    def config(self) -> dict[str, Any]:
        """Return the policy's own parameters."""
        return dict(self._call("config"))

    def start(self, beacon_s: float) -> None:
        """Begin a run."""
        self._call("start", beacon_s)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Ask the policy, and check its answer."""
        rest = self._call("rest", now_s, since_uplink_s, poll)
        fault = _fault(rest)
        if fault:
            raise PluginError(f"Policy {self._label}: rest() at {now_s:g} s {fault}.")
        return Rest(float(rest.awake_s), int(rest.beacons), bool(rest.repeat))

    def uplink(self, now_s: float) -> None:
        """Tell the policy of an uplink packet."""
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
        return self.policy.name or type(self.policy).__name__

    def _call(self, method: str, *arguments: Any) -> Any:
        try:
            return getattr(self.policy, method)(*arguments)
        except InputError:
            raise
        except Exception as error:
            raise PluginError(
                f"Policy {self._label} failed in {method}(): {reason(error)}; mend the policy."
            ) from error


def guarded(policy: Policy) -> Policy:
    """Return a copy of *policy* for one run: a built-in one as it is, a user's own one tried and guarded.

    Raises
    ------
    PluginError
        If a user's policy cannot be copied, or fails or answers badly when it is tried.
    """
    fresh = _copied(policy)
    return fresh if type(policy).__module__.startswith("psm_sim.policies.") else watched(fresh)


def watched(policy: Policy) -> Guarded:
    """Return *policy* guarded, after a copy of it has answered a few questions.

    Raises
    ------
    PluginError
        As :func:`guarded`.
    """
    probe = Guarded(_copied(policy))
    probe.start(0.1)
    for question in _PROBES:
        probe.rest(*question)
    return Guarded(policy)


def _copied(policy: Policy) -> Policy:
    try:
        return copy.deepcopy(policy)
    except Exception as error:
        raise PluginError(
            f"Policy {policy.name} cannot be copied ({error}); expected one that can."
        ) from error


def _fault(rest: Any) -> str:
    if not isinstance(rest, Rest):
        return f"returned {rest!r}; expected a Rest"
    awake_s: Any = rest.awake_s
    beacons: Any = rest.beacons
    if not isinstance(awake_s, Real) or not float(awake_s) >= 0:
        return f"returned awake_s={awake_s!r}; expected seconds, 0 or more"
    if not isinstance(beacons, Integral) or not 1 <= int(beacons) <= 10**9:
        return f"returned beacons={beacons!r}; expected a whole number from 1 to 10**9"
    if rest.repeat and awake_s:
        return f"returned repeat with awake_s={awake_s!r}; expected awake_s=0 with repeat"
    return ""
