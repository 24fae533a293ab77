"""Guard of user-defined policies, with a trial before a run."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, cast

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, describe_error, safe_repr
from psm_sim.common.input_limits import MAX_TIME_S
from psm_sim.common.user_code_guards import (
    Guard,
    WrongResultError,
    component_name,
    copy_component,
    numbers,
    plain_values,
)
from psm_sim.policies.base import Policy, Rest
from psm_sim.policies.factory import make_policy
from psm_sim.poll import Poll

_COPY_REMEDY = "pass the class instead of an instance, or open in start() what cannot be copied"

_TRIAL_CALLS = (
    (0.0, 0.0, None),
    (0.1, 0.1, Poll(100.0)),
    (0.2, 0.2, Poll(100.0, 1540, 2, ((40.0, 40), (41.0, 1500)))),
)
"""Arguments of the trial calls of ``rest()``."""


def guarded_policy(policy: Policy) -> Policy:
    """Return a guard of *policy*, which checks each :class:`Rest`."""
    checks: dict[str, Any] = {"rest": checked_rest, "config": plain_values, "report": numbers}
    return cast(Policy, Guard(policy, f"Policy {component_name(policy)}", checks))


def guard_policy(policy: str | Spec | Policy | type[Policy]) -> Policy:
    """Return a new policy for one run.

    A spec or class is instantiated, and an instance is copied. A built-in policy is not guarded. A
    user-defined policy is first tested by a few calls to a second instance. ``finish()`` is not tested,
    because it may write files. ``report()`` is tested only if the policy does not override ``finish()``.

    Raises
    ------
    PluginError
        If a user-defined policy cannot be copied, or fails in a trial call.
    InputError
        If the policy does not exist or cannot be created.
    """
    new = _new_policy(policy)
    if type(new).__module__.startswith("psm_sim."):
        return new
    trial = _new_policy(policy)
    guarded = guarded_policy(trial)
    guarded.config()
    guarded.start(0.1)
    for arguments in _TRIAL_CALLS:
        guarded.rest(*arguments)
    if type(trial).finish is Policy.finish:
        guarded.report()
    return guarded_policy(new)


def unwrap_policy(policy: Policy) -> Policy:
    """Return the policy inside a guard, or *policy* itself if it has no guard."""
    return policy.component if isinstance(policy, Guard) else policy


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


def checked_rest(rest: Any, *_: Any) -> Rest:
    """Return *rest* with plain numbers.

    Raises
    ------
    WrongResultError
        If *rest* is not a valid :class:`Rest`.
    """
    if not isinstance(rest, Rest):
        raise WrongResultError(f"{safe_repr(rest)}; expected a Rest")
    awake_s: Any = rest.awake_s
    beacons: Any = rest.beacons
    seconds: Any = awake_s if isinstance(awake_s, Real) else -1
    if not (0 <= seconds <= MAX_TIME_S or seconds == math.inf):
        raise WrongResultError(
            f"awake_s={safe_repr(awake_s)}; expected seconds from 0 to {MAX_TIME_S:g}, or inf"
        )
    if not isinstance(beacons, Integral) or not 1 <= int(beacons) <= 10**9:
        raise WrongResultError(f"beacons={safe_repr(beacons)}; expected an integer from 1 to 10**9")
    if rest.repeat and awake_s:
        raise WrongResultError(f"awake_s={safe_repr(awake_s)} with repeat; repeat requires awake_s=0")
    return Rest(float(awake_s), int(beacons), bool(rest.repeat))
