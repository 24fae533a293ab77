"""Wrapper that reports errors of a user-defined policy by name."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, PluginError, definition_location, describe_error, safe_repr
from psm_sim.common.user_code_guards import (
    component_name,
    config_of,
    copy_component,
    report_of,
    user_code_call,
)
from psm_sim.policies.base import Dtim, Frame, Policy, RadioPower, Rest, ServicePeriod
from psm_sim.policies.factory import make_policy
from psm_sim.poll import Poll

MAX_S = 1e9
"""Maximum finite time awake, in seconds."""

_COPY_REMEDY = "pass the class instead of an instance, or open in start() what cannot be copied"

_TRIAL_CALLS = (
    (0.0, 0.0, None),
    (0.1, 0.1, Poll(100.0)),
    (0.2, 0.2, Poll(100.0, 1540, 2, ((40.0, 40), (41.0, 1500)))),
)
"""Arguments of the trial calls of ``rest()``."""


class GuardedPolicy(Policy):
    """Wrapper that forwards every call to *policy* and checks the returned values.

    Raises
    ------
    PluginError
        From any call, if the policy fails or does not return a valid :class:`Rest`.
    """

    name: ClassVar[str] = "guarded"

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._now_s = 0.0

    @property
    def power(self) -> RadioPower:
        """Power of the radio, as the policy sees it."""
        return self.policy.power

    @power.setter
    def power(self, power: RadioPower) -> None:
        self.policy.power = power

    @property
    def dtim(self) -> Dtim:
        """DTIM period, as the policy sees it."""
        return self.policy.dtim

    @dtim.setter
    def dtim(self, dtim: Dtim) -> None:
        self.policy.dtim = dtim

    @property
    def service(self) -> ServicePeriod | None:
        """Rules of the policy's service periods."""
        return self.policy.service

    def config(self) -> dict[str, Any]:
        """Return the policy's parameters as plain values."""
        return config_of(self.policy.config, f"Policy {self._label}")

    def start(self, beacon_s: float) -> None:
        """Forward the start of a run."""
        self._call("start", beacon_s)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Call the policy and check its :class:`Rest`."""
        self._now_s = now_s
        rest = self._call("rest", now_s, since_uplink_s, poll)
        checked = self._convert(rest)
        if isinstance(checked, str):
            location = definition_location(self.policy.rest)
            raise PluginError(f"Policy {self._label}: rest() at {now_s:g} s {checked}{location}.")
        return checked

    def uplink(self, now_s: float) -> None:
        """Forward an uplink packet."""
        self._now_s = now_s
        self._call("uplink", now_s)

    def wants(self, hook: str) -> bool:
        """Return whether the wrapped policy overrides the hook."""
        return bool(self._call("wants", hook))

    def sent(self, now_s: float, frame: Frame) -> None:
        """Forward a frame sent."""
        self._call("sent", now_s, frame)

    def received(self, now_s: float, frame: Frame) -> None:
        """Forward a frame received."""
        self._call("received", now_s, frame)

    def interrupted(self, poll: Poll) -> None:
        """Forward an interrupted doze."""
        self._call("interrupted", poll)

    def finish(self) -> None:
        """Forward the end of a run."""
        self._call("finish")

    def report(self) -> dict[str, float]:
        """Return the policy's measurements."""
        return report_of(self.policy.report, f"Policy {self._label}")

    @property
    def _label(self) -> str:
        return component_name(self.policy)

    def _call(self, method: str, *arguments: Any) -> Any:
        with user_code_call(f"Policy {self._label} failed in {method}() at {self._now_s:g} s"):
            return getattr(self.policy, method)(*arguments)

    def _convert(self, rest: Any) -> Rest | str:
        """Return *rest* with plain numbers, or an error description."""
        with user_code_call(f"Policy {self._label} returned an invalid Rest at {self._now_s:g} s"):
            return invalid_rest(rest) or Rest(float(rest.awake_s), int(rest.beacons), bool(rest.repeat))


def guard_policy(policy: str | Spec | Policy | type[Policy]) -> Policy:
    """Return a new policy for one run.

    A spec or class is instantiated, and an instance is copied. A built-in policy is not wrapped. A
    user-defined policy is wrapped, after a second new one was tested with a few calls. That one is not told
    the end of a run, because ``finish()`` may write files. A ``report()`` that follows such a method is
    therefore not tested.

    Raises
    ------
    PluginError
        If a user-defined policy cannot be copied, or fails in a trial call.
    InputError
        If the policy does not exist or cannot be created.
    """
    guarded = _new_policy(policy)
    if type(guarded).__module__.startswith("psm_sim."):
        return guarded
    _try_calls(GuardedPolicy(_new_policy(policy)))
    return GuardedPolicy(guarded)


def _new_policy(policy: str | Spec | Policy | type[Policy]) -> Policy:
    if isinstance(policy, Policy):
        return copy_component(policy, f"Policy {component_name(policy)}", _COPY_REMEDY)
    if not isinstance(policy, type):
        return make_policy(Spec.of(policy, "policy"))
    try:
        return policy()
    except Exception as error:
        raise InputError(
            f"Policy class {policy.__name__} cannot be instantiated without arguments: "
            f"{describe_error(error)}; pass an instance."
        ) from error


def unwrap_policy(policy: Policy) -> Policy:
    """Return the policy without its :class:`GuardedPolicy` wrapper."""
    return policy.policy if isinstance(policy, GuardedPolicy) else policy


def _try_calls(trial: GuardedPolicy) -> None:
    trial.config()
    trial.start(0.1)
    for arguments in _TRIAL_CALLS:
        trial.rest(*arguments)
    if type(trial.policy).finish is Policy.finish:
        trial.report()


def invalid_rest(rest: Any) -> str:
    """Return why *rest* is not a valid :class:`Rest`, or an empty string."""
    if not isinstance(rest, Rest):
        return f"returned {safe_repr(rest)}; expected a Rest"
    awake_s: Any = rest.awake_s
    beacons: Any = rest.beacons
    if not _is_duration(awake_s):
        return f"returned awake_s={safe_repr(awake_s)}; expected seconds from 0 to {MAX_S:g}, or inf"
    if not isinstance(beacons, Integral) or not 1 <= int(beacons) <= 10**9:
        return f"returned beacons={safe_repr(beacons)}; expected an integer from 1 to 10**9"
    if rest.repeat and awake_s:
        return f"returned awake_s={safe_repr(awake_s)} with repeat; repeat requires awake_s=0"
    return ""


def _is_duration(value: Any) -> bool:
    number: Any = value if isinstance(value, Real) else -1
    return bool(0 <= number <= MAX_S or number == math.inf)
