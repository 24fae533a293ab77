"""Contract checks of policies, part 1: direct calls.

The calls are those of a station, see :class:`~psm_sim.policies.Policy`. Checks of whole runs are in
:mod:`psm_sim.contracts.policy_run_checks`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from copy import deepcopy
from itertools import product

from psm_sim.common.parameters import parameters_of
from psm_sim.contracts.check_suite import Subject, Suite, pickle_round_trip, require
from psm_sim.contracts.shared_checks import can_be_copied, default_parameters, documented
from psm_sim.policies import Frame, Policy, Poll, Rest
from psm_sim.policies.user_policy_guard import GuardedPolicy

BEACON_S = 0.1
"""Beacon interval of the checks, in seconds."""
POLLS = (
    None,
    Poll(100.0),
    Poll(63.0, 40, 1, ((10.0, 40),)),
    Poll(1200.0, 3000, 2, ((1.0, 1500), (2.0, 1500))),
)
"""Typical observations of a station."""
ODD_POLLS = (
    Poll(1e-6, 1500, 1, ((0.0, 1500),)),
    Poll(1e8, 256 * 1500, 256, tuple((3e5 * number, 1500) for number in range(256))),
    Poll(100.0, 10**7),
)
"""Unusual observations: a doze of a nanosecond, a day with a full buffer, and bytes without arrival times."""
ODD_TIMES_S = (0.0, 1e-9, 0.05, 0.1, 0.1 + 0.2, 12345.678, 1e7)
"""Unusual times: the start, on and off the beacon grid, sums with rounding errors, and the far future."""
FRAMES = (
    Frame(0, 40, 0, True, False),
    Frame(0, 340, 300, False, False),
    Frame(1, 1500, 1460, False, True),
    Frame(10**6, 40, 0, False, True),
    Frame(-1, 300, 272, False, False),
)
"""SYN, request, end of a reply, FIN of an unknown connection, and datagram."""

ANSWER_CHECKS = Suite[Subject[Policy]]("policy")


def collect_answers(policy: Policy, polls: Iterable[Poll | None] | None = None) -> list[Rest]:
    """Return the rests for each of *polls*, at increasing times.

    The default is :data:`POLLS`.
    """
    observations = deepcopy(POLLS) if polls is None else polls
    return [policy.rest(1.0 + 0.7 * number, 0.35, poll) for number, poll in enumerate(observations)]


def _require_equal(rests: list[Rest], expected: list[Rest], subject: str) -> None:
    for poll, rest, expected_rest in zip(POLLS, rests, expected, strict=True):
        require(rest == expected_rest, f"{subject} returns {rest} for {poll}; expected {expected_rest}.")


def start_policy(policy: Policy, beacon_s: float = BEACON_S) -> Policy:
    """Start a run of *policy* itself, with beacons every *beacon_s* seconds, and return it."""
    policy.start(beacon_s)
    return policy


ANSWER_CHECKS.gate(can_be_copied)
ANSWER_CHECKS.check(default_parameters)
ANSWER_CHECKS.check(documented)


@ANSWER_CHECKS.check
def copies(subject: Subject[Policy]) -> None:
    """A deep copy returns the same rests as the original, and neither changes the other."""
    policy = start_policy(subject.fresh())
    collect_answers(policy)
    copied = deepcopy(policy)
    rests_of_copy = collect_answers(copied)
    require(collect_answers(policy) == rests_of_copy, "Calls of a deep copy changed the original's rests.")


@ANSWER_CHECKS.check
def pickles(subject: Subject[Policy]) -> None:
    """A pickled copy returns the same rests as the original, so that runs can use several processes."""
    policy = start_policy(subject.fresh())
    collect_answers(policy)
    copied = pickle_round_trip(policy)
    _require_equal(collect_answers(copied), collect_answers(policy), "A pickled copy")


@ANSWER_CHECKS.check
def plain_config(subject: Subject[Policy]) -> None:
    """Its config() has a plain JSON value for each parameter."""
    config = subject.component.config()
    for name, value in config.items():
        plain = value is None or isinstance(value, (bool, int, float, str))
        require(plain, f"config() has {name}={value!r}; expected a number, bool, str or None.")
    json.dumps(config, allow_nan=False)
    missing = set(parameters_of(type(subject.component))) - set(config)
    require(not missing, f"config() lacks {', '.join(sorted(missing))}; expected every parameter.")


@ANSWER_CHECKS.check
def keeps_parameters(subject: Subject[Policy]) -> None:
    """Created without arguments, its config() contains all default values."""
    config = type(subject.component)().config()
    for name, declared in parameters_of(type(subject.component)).items():
        lost = declared.default is not None and config.get(name) is None
        require(not lost, f"config() has {name}=None; expected {declared.default!r}, stored as self.{name}.")


@ANSWER_CHECKS.check
def starts_anew(subject: Subject[Policy]) -> None:
    """After start() it returns the same rests as a new instance, so no run depends on an earlier one."""
    used, new = start_policy(subject.fresh()), start_policy(subject.fresh())
    collect_answers(used, deepcopy(POLLS * 8))
    _require_equal(collect_answers(start_policy(used)), collect_answers(new), "After start() it")


@ANSWER_CHECKS.check
def legal_answers(subject: Subject[Policy]) -> None:
    """Every rest is valid, for all observations, times and beacon intervals."""
    for beacon_s in (BEACON_S, 0.02, 0.1024):
        policy = GuardedPolicy(start_policy(subject.fresh(), beacon_s))
        for now_s, poll in product(ODD_TIMES_S, deepcopy((*POLLS, *ODD_POLLS))):
            for since_uplink_s in (0.0, now_s / 2, now_s):
                policy.rest(now_s, since_uplink_s, poll)


@ANSWER_CHECKS.check
def hooks(subject: Subject[Policy]) -> None:
    """Uplink packets and interrupted dozes are accepted at any time, and later rests are valid."""
    policy = start_policy(subject.fresh())
    guarded = GuardedPolicy(policy)
    for now_s in ODD_TIMES_S:
        guarded.uplink(now_s)
        for poll in deepcopy((Poll(0.0), *POLLS[1:], *ODD_POLLS)):
            guarded.interrupted(poll)
        collect_answers(policy)


@ANSWER_CHECKS.check
def frames(subject: Subject[Policy]) -> None:
    """All frames sent and received are accepted at any time, and later rests are valid."""
    policy = start_policy(subject.fresh())
    guarded = GuardedPolicy(policy)
    for now_s, frame in product(ODD_TIMES_S, FRAMES):
        guarded.sent(now_s, frame)
        guarded.received(now_s, frame)
        collect_answers(policy)


@ANSWER_CHECKS.check
def leaves_arguments(subject: Subject[Policy]) -> None:
    """The polls that it receives are not modified."""
    policy = start_policy(subject.fresh())
    polls = deepcopy(POLLS)
    collect_answers(policy, polls)
    require(polls == POLLS, f"It modified the polls to {polls}; expected {POLLS}.")
