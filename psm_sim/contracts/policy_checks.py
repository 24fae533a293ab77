"""Contract checks of policies: direct calls, and whole runs of the simulator.

The calls are those of a station, see :class:`~psm_sim.policies.Policy`. The runs load a few pages of the
bundled ``ucb`` trace in the bundled topology. Checks share their results.
"""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Iterable, Iterator
from copy import deepcopy
from itertools import product
from typing import Any

from psm_sim.common.parameters import parameters_of
from psm_sim.contracts.check_suite import (
    ODD_POLLS,
    POLLS,
    Subject,
    Suite,
    can_be_copied,
    default_parameters,
    documented,
    pickle_round_trip,
    require,
)
from psm_sim.network import load_topology
from psm_sim.network.beacon_event_reference import schedule_every_beacon
from psm_sim.policies import Frame, Policy, Poll, Rest
from psm_sim.policies.user_policy_guard import GuardedPolicy
from psm_sim.simulation import Result, Scenario, simulate
from psm_sim.simulation.run import prepare

BEACON_S = 0.1
"""Beacon interval of the checks, in seconds."""
ODD_TIMES_S = (0.0, 1e-9, 0.05, 0.1, 0.1 + 0.2, 12345.678, 1e7)
"""Unusual times: the start, on and off the beacon grid, sums with rounding errors, and the far future."""
FRAMES = (
    Frame(0, 40, 0, True, False, mss=1460),
    Frame(0, 340, 300, False, False),
    Frame(1, 1500, 1460, False, True),
    Frame(10**6, 40, 0, False, True),
    Frame(-1, 300, 272, False, False),
    Frame(-1, 300, 272, False, False, group=True),
)
"""SYN, request, end of a reply, FIN of an unknown connection, datagram, and group addressed frame."""

PAGES, SEED = 5, 3
MODES = (
    {"access_point.release_on_uplink": "true"},
    {"access_point.release_on_uplink": "false"},
)
"""Both interpretations of the standard: whether an uplink packet releases the buffered frames."""

Settings = dict[str, str]


class PolicySubject(Subject[Policy]):
    """Policy under test, with its cached runs."""

    def __init__(self, component: Policy) -> None:
        super().__init__(component)
        self._runs: dict[tuple[tuple[str, str], ...], Result] = {}

    def run(self, settings: Settings) -> Result:
        """Return the cached run with these topology settings."""
        key = tuple(settings.items())
        if key not in self._runs:
            self._runs[key] = self.run_again(settings)
        return self._runs[key]

    def run_again(self, settings: Settings) -> Result:
        """Return a new run of the policy, created by :func:`psm_sim.simulate` as for a user."""
        return simulate(self.component, pages=PAGES, seed=SEED, settings=settings)

    def run_every_beacon(self, settings: Settings) -> Result:
        """Return a run with an event for every beacon, and with the page times of :meth:`run`."""
        scenario = Scenario(pages=PAGES, seed=SEED, settings=settings)
        run = prepare(self.component, scenario.resolve_topology())
        schedule_every_beacon(run.world)
        times_s = [record.always_on_time_s for record in self.run(settings).page_records]
        return run.execute(scenario.workload().pages, times_s)

    def runs(self) -> Iterator[Result]:
        """Return the runs with both :data:`MODES`."""
        return map(self.run, MODES)


POLICY_CHECKS = Suite[PolicySubject]("policy")


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


POLICY_CHECKS.gate(can_be_copied)
POLICY_CHECKS.check(default_parameters)
POLICY_CHECKS.check(documented)


@POLICY_CHECKS.check
def copies(subject: Subject[Policy]) -> None:
    """A deep copy made before start() returns the same rests, and neither changes the other."""
    policy = subject.fresh()
    copied = start_policy(deepcopy(policy))
    start_policy(policy)
    rests_of_copy = collect_answers(copied)
    require(collect_answers(policy) == rests_of_copy, "Calls of a deep copy changed the original's rests.")


@POLICY_CHECKS.check
def pickles(subject: Subject[Policy]) -> None:
    """A copy pickled before start() returns the same rests, so that runs can use several processes."""
    policy = subject.fresh()
    copied = start_policy(pickle_round_trip(policy))
    _require_equal(collect_answers(copied), collect_answers(start_policy(policy)), "A pickled copy")


@POLICY_CHECKS.check
def plain_config(subject: Subject[Policy]) -> None:
    """Its config() has a plain JSON value for each parameter."""
    config = subject.component.config()
    for name, value in config.items():
        plain = value is None or isinstance(value, (bool, int, float, str))
        require(plain, f"config() has {name}={value!r}; expected a number, bool, str or None.")
    json.dumps(config, allow_nan=False)
    missing = set(parameters_of(type(subject.component))) - set(config)
    require(not missing, f"config() lacks {', '.join(sorted(missing))}; expected every parameter.")


@POLICY_CHECKS.check
def keeps_parameters(subject: Subject[Policy]) -> None:
    """Created without arguments, its config() contains all default values."""
    config = type(subject.component)().config()
    for name, declared in parameters_of(type(subject.component)).items():
        lost = declared.default is not None and config.get(name) is None
        require(not lost, f"config() has {name}=None; expected {declared.default!r}, stored as self.{name}.")


@POLICY_CHECKS.check
def starts_anew(subject: Subject[Policy]) -> None:
    """After start() it returns the same rests as a new instance, so no run depends on an earlier one."""
    used, new = start_policy(subject.fresh()), start_policy(subject.fresh())
    collect_answers(used, deepcopy(POLLS * 8))
    _require_equal(collect_answers(start_policy(used)), collect_answers(new), "After start() it")


@POLICY_CHECKS.check
def legal_answers(subject: Subject[Policy]) -> None:
    """Every rest is valid, for all observations, times and beacon intervals."""
    for beacon_s in (BEACON_S, 0.02, 0.1024):
        policy = GuardedPolicy(start_policy(subject.fresh(), beacon_s))
        for now_s, poll in product(ODD_TIMES_S, deepcopy((*POLLS, *ODD_POLLS))):
            for since_uplink_s in (0.0, now_s / 2, now_s):
                policy.rest(now_s, since_uplink_s, poll)


@POLICY_CHECKS.check
def hooks(subject: Subject[Policy]) -> None:
    """Uplink packets and interrupted dozes are accepted at any time, and later rests are valid."""
    policy = start_policy(subject.fresh())
    guarded = GuardedPolicy(policy)
    for now_s in ODD_TIMES_S:
        guarded.uplink(now_s)
        for poll in deepcopy((Poll(0.0), *POLLS[1:], *ODD_POLLS)):
            guarded.interrupted(poll)
        collect_answers(policy)


@POLICY_CHECKS.check
def frames(subject: Subject[Policy]) -> None:
    """All frames sent and received are accepted at any time, and later rests are valid."""
    policy = start_policy(subject.fresh())
    guarded = GuardedPolicy(policy)
    for now_s, frame in product(ODD_TIMES_S, FRAMES):
        guarded.sent(now_s, frame)
        guarded.received(now_s, frame)
        collect_answers(policy)


@POLICY_CHECKS.check
def leaves_arguments(subject: Subject[Policy]) -> None:
    """The polls that it receives are not modified."""
    policy = start_policy(subject.fresh())
    polls = deepcopy(POLLS)
    collect_answers(policy, polls)
    require(polls == POLLS, f"It modified the polls to {polls}; expected {POLLS}.")


@POLICY_CHECKS.gate
def finishes(subject: PolicySubject) -> None:
    """Every page is loaded, whether or not an uplink packet releases the buffered frames."""
    for result in subject.runs():
        loaded = len(result.page_records)
        require(loaded == PAGES, f"{loaded} pages were loaded; expected {PAGES}.")
        times_s = [record.page_time_s for record in result.page_records]
        require(all(0 < time_s < math.inf for time_s in times_s), f"The pages took {times_s} s.")


@POLICY_CHECKS.check
def time_law(subject: PolicySubject) -> None:
    """The times awake and asleep add up to the simulated time."""
    for result in subject.runs():
        total_s = result.usage.awake_s + result.usage.asleep_s
        require(
            _is_close(total_s, result.simulated_s),
            f"The times awake and asleep add up to {total_s} s; expected {result.simulated_s} s.",
        )


@POLICY_CHECKS.check
def energy_law(subject: PolicySubject) -> None:
    """The energy is the sum of power times time over the states, plus that of each beacon."""
    power = load_topology().power
    for result in subject.runs():
        usage = result.usage
        joules = power.awake_w * usage.awake_s + power.asleep_w * usage.asleep_s
        joules += power.beacon_j * usage.beacons
        require(_is_close(usage.total_j, joules), f"The energy is {usage.total_j} J; expected {joules} J.")


@POLICY_CHECKS.check
def byte_law(subject: PolicySubject) -> None:
    """The bytes sent are the sum of the received, undelivered and dropped bytes."""
    for result in subject.runs():
        traffic = result.traffic
        accounted = traffic.client_received_bytes + traffic.undelivered_bytes + traffic.dropped_bytes
        sent = traffic.server_sent_bytes
        require(
            accounted == sent,
            f"{accounted} bytes were received, undelivered or dropped; expected the {sent} bytes sent.",
        )


@POLICY_CHECKS.check
def same_run_twice(subject: PolicySubject) -> None:
    """The same seed gives bit-for-bit the same run."""
    for mode in MODES:
        _require_same(subject.run(mode), subject.run_again(mode), "A second run")


@POLICY_CHECKS.check
def every_beacon(subject: PolicySubject) -> None:
    """With an event at every beacon the run is bit-for-bit the same."""
    for mode in MODES:
        _require_same(
            subject.run(mode), subject.run_every_beacon(mode), "A run with an event at every beacon"
        )


@POLICY_CHECKS.check
def left_as_it_was(subject: PolicySubject) -> None:
    """A run works on a copy and does not change the given policy."""
    before = pickle.dumps(subject.component)
    subject.run_again(MODES[0])
    require(pickle.dumps(subject.component) == before, "A run changed the given policy.")


def _is_close(value: float, expected: float) -> bool:
    return math.isclose(value, expected, rel_tol=1e-12)


def _require_same(first: Result, second: Result, run_name: str) -> None:
    actual, expected = _deterministic_results(second), _deterministic_results(first)
    for name, value in expected.items():
        require(actual[name] == value, f"{run_name} has {name}={actual[name]}; expected {value}.")


def _deterministic_results(result: Result) -> dict[str, Any]:
    """Return the results of a run, without its duration and number of events."""
    return {
        "simulated_s": result.simulated_s,
        "usage": result.usage,
        "traffic": result.traffic,
        "page_records": result.page_records,
    }
