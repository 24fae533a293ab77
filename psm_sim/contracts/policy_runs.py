"""Policy checks, second part: what whole runs of the simulator must keep, whatever the policy.

A few pages of the bundled ``ucb`` trace in the bundled topology; one run serves all checks that look at it.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from typing import Any

from psm_sim.contracts.check_suite import Subject, Suite, require
from psm_sim.contracts.policy import ANSWER_CHECKS
from psm_sim.network import load_topology
from psm_sim.policies import Policy
from psm_sim.simulation import Result, simulate

PAGES, SEED = 5, 3
MODES = (
    {"access_point.release_on_uplink": "true"},
    {"access_point.release_on_uplink": "false"},
)
"""Both readings of the standard: whether an uplink packet makes the access point send what it holds."""
EVERY_BEACON = {"beacon.fire_all": "true"}

Settings = dict[str, str]


class PolicySubject(Subject[Policy]):
    """A policy under test, and its runs."""

    def __init__(self, given: Policy) -> None:
        super().__init__(given)
        self._runs: dict[tuple[tuple[str, str], ...], Result] = {}

    def run(self, settings: Settings) -> Result:
        """Return the run under these keys of the topology, made only once."""
        key = tuple(settings.items())
        if key not in self._runs:
            self._runs[key] = self.run_again(settings)
        return self._runs[key]

    def run_again(self, settings: Settings) -> Result:
        """Return a new run of the policy, made as a user's call of :func:`psm_sim.simulate` makes it."""
        return simulate(self.given, pages=PAGES, seed=SEED, settings=settings)

    def runs(self) -> Iterator[Result]:
        """Return the runs under both :data:`MODES`."""
        return map(self.run, MODES)


POLICY_CHECKS = Suite[PolicySubject]("policy", ANSWER_CHECKS)


@POLICY_CHECKS.gate
def finishes(subject: PolicySubject) -> None:
    """Every page is loaded, whether or not an uplink packet releases what the access point holds."""
    for result in subject.runs():
        loaded = len(result.page_records)
        require(loaded == PAGES, f"{loaded} pages were loaded; expected {PAGES}.")
        times_s = [record.page_time_s for record in result.page_records]
        require(all(0 < time_s < math.inf for time_s in times_s), f"The pages took {times_s} s.")


@POLICY_CHECKS.check
def time_law(subject: PolicySubject) -> None:
    """The seconds awake and asleep add up to the time simulated."""
    for result in subject.runs():
        total_s = result.usage.awake_s + result.usage.asleep_s
        require(
            _same(total_s, result.simulated_s), f"{total_s} s are accounted for of {result.simulated_s} s."
        )


@POLICY_CHECKS.check
def energy_law(subject: PolicySubject) -> None:
    """The energy is power times time, summed over the states, and that of each beacon or period."""
    power, service = load_topology().power, subject.given.service
    agreed = service is not None and service.interval_s is not None
    wake_j = power.awake_w * service.overhead_s if service is not None and agreed else power.beacon_j
    for result in subject.runs():
        usage = result.usage
        joules = power.awake_w * usage.awake_s + power.asleep_w * usage.asleep_s
        joules += wake_j * usage.beacons
        require(_same(usage.total_j, joules), f"The energy is {usage.total_j} J; expected {joules} J.")


@POLICY_CHECKS.check
def byte_law(subject: PolicySubject) -> None:
    """The bytes sent are those received, still on the way or held, and dropped."""
    for result in subject.runs():
        traffic = result.traffic
        found = traffic.client_received_bytes + traffic.undelivered_bytes + traffic.dropped_bytes
        sent = traffic.server_sent_bytes
        require(found == sent, f"{sent} bytes were sent, and {found} are accounted for.")


@POLICY_CHECKS.check
def same_run_twice(subject: PolicySubject) -> None:
    """The same seed gives the same run, to the last bit."""
    for mode in MODES:
        _require_same(subject.run(mode), subject.run_again(mode), "A second run")


@POLICY_CHECKS.check
def every_beacon(subject: PolicySubject) -> None:
    """With an event at every beacon (``beacon.fire_all``) the run is the same, to the last bit."""
    for mode in MODES:
        _require_same(subject.run(mode), subject.run(mode | EVERY_BEACON), "A run with all beacons fired")


@POLICY_CHECKS.check
def left_as_it_was(subject: PolicySubject) -> None:
    """A run changes nothing of the policy that was given: it works on a copy."""
    before = pickle.dumps(subject.given)
    subject.run_again(MODES[0])
    require(pickle.dumps(subject.given) == before, "The policy given is not the same after a run.")


def _same(value: float, expected: float) -> bool:
    return math.isclose(value, expected, rel_tol=1e-12)


def _require_same(one: Result, other: Result, what: str) -> None:
    found, expected = _numbers(other), _numbers(one)
    for name, value in expected.items():
        require(found[name] == value, f"{what} has {name}={found[name]}; expected {value}.")


def _numbers(result: Result) -> dict[str, Any]:
    """Return what a run found; neither how long it took nor how many events it needed."""
    return {
        "simulated_s": result.simulated_s,
        "usage": result.usage,
        "traffic": result.traffic,
        "page_records": result.page_records,
    }
