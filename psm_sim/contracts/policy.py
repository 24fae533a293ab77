"""Policy checks, first part: what a policy answers, asked directly.

The questions are those of a station: see :class:`~psm_sim.policies.Policy`. What whole runs must keep is in
:mod:`psm_sim.contracts.policy_runs`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from copy import deepcopy
from itertools import product

from psm_sim.contracts.check_suite import Subject, Suite, pickle_round_trip, require
from psm_sim.contracts.shared_checks import can_be_copied, default_parameters, documented
from psm_sim.parameters import parameters_of
from psm_sim.policies import Frame, Policy, Poll, Rest
from psm_sim.policies.user_policy_guard import GuardedPolicy

BEACON_S = 0.1
POLLS = (
    None,
    Poll(100.0),
    Poll(63.0, 40, 1, ((10.0, 40),)),
    Poll(1200.0, 3000, 2, ((1.0, 1500), (2.0, 1500))),
)
"""What a station sees as a rule."""
ODD_POLLS = (
    Poll(1e-6, 1500, 1, ((0.0, 1500),)),
    Poll(1e8, 256 * 1500, 256, tuple((3e5 * number, 1500) for number in range(256))),
    Poll(100.0, 10**7),
)
"""A doze of a nanosecond, one of a day with a full buffer, and bytes of which nobody knows the times."""
ODD_TIMES_S = (0.0, 1e-9, 0.05, 0.1, 0.1 + 0.2, 12345.678, 1e7)
"""The start, off and on the beacon grid, where adding up goes astray, and far in the future."""
FRAMES = (
    Frame(0, 40, 0, True, False),
    Frame(0, 340, 300, False, False),
    Frame(1, 1500, 1460, False, True),
    Frame(10**6, 40, 0, False, True),
    Frame(-1, 300, 272, False, False),
)
"""A SYN, a request, the end of a reply, a FIN of a connection nobody opened, and a datagram."""

ANSWER_CHECKS = Suite[Subject[Policy]]("policy")


def collect_answers(policy: Policy, polls: Iterable[Poll | None] | None = None) -> list[Rest]:
    """Return the answers to one question for each of *polls* (default: as a rule), the time going on."""
    shown = deepcopy(POLLS) if polls is None else polls
    return [policy.rest(1.0 + 0.7 * number, 0.35, poll) for number, poll in enumerate(shown)]


def _require_alike(found: list[Rest], expected: list[Rest], who: str) -> None:
    for poll, answer, wanted in zip(POLLS, found, expected, strict=True):
        require(answer == wanted, f"{who} answers {poll} with {answer}; expected {wanted}.")


def start_policy(policy: Policy, beacon_s: float = BEACON_S) -> Policy:
    """Begin a run of *policy* itself, beacons *beacon_s* seconds apart, and return it."""
    policy.start(beacon_s)
    return policy


ANSWER_CHECKS.gate(can_be_copied)
ANSWER_CHECKS.check(default_parameters)
ANSWER_CHECKS.check(documented)


@ANSWER_CHECKS.check
def copies(subject: Subject[Policy]) -> None:
    """A deep copy answers as the original does, and neither changes the other."""
    policy = start_policy(subject.fresh())
    collect_answers(policy)
    twin = deepcopy(policy)
    ahead = collect_answers(twin)
    require(collect_answers(policy) == ahead, "What a deep copy was asked changed the original's answers.")


@ANSWER_CHECKS.check
def pickles(subject: Subject[Policy]) -> None:
    """A pickled copy answers as the original does, so that runs can share several processes."""
    policy = start_policy(subject.fresh())
    collect_answers(policy)
    twin = pickle_round_trip(policy)
    _require_alike(collect_answers(twin), collect_answers(policy), "A pickled copy")


@ANSWER_CHECKS.check
def plain_config(subject: Subject[Policy]) -> None:
    """Its config() has a plain JSON value for each of its parameters."""
    config = subject.given.config()
    for name, value in config.items():
        plain = value is None or isinstance(value, (bool, int, float, str))
        require(plain, f"config() has {name}={value!r}; expected a number, a truth value, a text or None.")
    json.dumps(config, allow_nan=False)
    missing = set(parameters_of(type(subject.given))) - set(config)
    require(not missing, f"config() has no {', '.join(sorted(missing))}; expected every parameter.")


@ANSWER_CHECKS.check
def keeps_parameters(subject: Subject[Policy]) -> None:
    """Made without any parameter, its config() has the defaults, none of them lost."""
    config = type(subject.given)().config()
    for name, declared in parameters_of(type(subject.given)).items():
        lost = declared.default is not None and config.get(name) is None
        require(not lost, f"config() has {name}=None; expected {declared.default!r}, kept as self.{name}.")


@ANSWER_CHECKS.check
def starts_anew(subject: Subject[Policy]) -> None:
    """After start() it answers as a new one does: a run never begins with another's experience."""
    used, new = start_policy(subject.fresh()), start_policy(subject.fresh())
    collect_answers(used, deepcopy(POLLS * 8))
    _require_alike(collect_answers(start_policy(used)), collect_answers(new), "Started again it")


@ANSWER_CHECKS.check
def legal_answers(subject: Subject[Policy]) -> None:
    """Every answer is a rest that can be kept, whatever was seen, whenever, on any beacon grid."""
    for beacon_s in (BEACON_S, 0.02, 0.1024):
        policy = GuardedPolicy(start_policy(subject.fresh(), beacon_s))
        for now_s, poll in product(ODD_TIMES_S, deepcopy((*POLLS, *ODD_POLLS))):
            for since_uplink_s in (0.0, now_s / 2, now_s):
                policy.rest(now_s, since_uplink_s, poll)


@ANSWER_CHECKS.check
def hooks(subject: Subject[Policy]) -> None:
    """It can be told of uplink packets and interrupted dozes at any time, and still answers."""
    policy = start_policy(subject.fresh())
    watched = GuardedPolicy(policy)
    for now_s in ODD_TIMES_S:
        watched.uplink(now_s)
        for poll in deepcopy((Poll(0.0), *POLLS[1:], *ODD_POLLS)):
            watched.interrupted(poll)
        collect_answers(policy)


@ANSWER_CHECKS.check
def frames(subject: Subject[Policy]) -> None:
    """It can be told of any frame sent or received, at any time, and still answers."""
    policy = start_policy(subject.fresh())
    watched = GuardedPolicy(policy)
    for now_s, frame in product(ODD_TIMES_S, FRAMES):
        watched.sent(now_s, frame)
        watched.received(now_s, frame)
        collect_answers(policy)


@ANSWER_CHECKS.check
def leaves_arguments(subject: Subject[Policy]) -> None:
    """The polls that it is shown it leaves as they were."""
    policy = start_policy(subject.fresh())
    shown = deepcopy(POLLS)
    collect_answers(policy, shown)
    require(shown == POLLS, f"It changed what it was shown to {shown}; expected {POLLS}.")
