"""Contract checks of policies, part 2: whole runs of the simulator.

The runs load a few pages of the bundled ``ucb`` trace in the bundled topology. Checks share their results.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from typing import Any

from psm_sim.contracts.check_suite import Subject, Suite, require
from psm_sim.contracts.policy_call_checks import ANSWER_CHECKS
from psm_sim.network import load_topology
from psm_sim.policies import Policy
from psm_sim.simulation import Result, simulate

PAGES, SEED = 5, 3
MODES = (
    {"access_point.release_on_uplink": "true"},
    {"access_point.release_on_uplink": "false"},
)
"""Both interpretations of the standard: whether an uplink packet releases the buffered frames."""
EVERY_BEACON = {"beacon.fire_all": "true"}
"""Setting that schedules an event for every beacon."""

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

    def runs(self) -> Iterator[Result]:
        """Return the runs with both :data:`MODES`."""
        return map(self.run, MODES)


POLICY_CHECKS = Suite[PolicySubject]("policy", ANSWER_CHECKS)


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
    """The energy is the sum of power times time over the states, plus that of each beacon or period."""
    power, service = load_topology().power, subject.component.service
    has_schedule = service is not None and service.interval_s is not None
    wake_j = power.awake_w * service.overhead_s if service is not None and has_schedule else power.beacon_j
    for result in subject.runs():
        usage = result.usage
        joules = power.awake_w * usage.awake_s + power.asleep_w * usage.asleep_s
        joules += wake_j * usage.beacons
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
    """With an event at every beacon (``beacon.fire_all``) the run is bit-for-bit the same."""
    for mode in MODES:
        _require_same(
            subject.run(mode), subject.run(mode | EVERY_BEACON), "A run with an event at every beacon"
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
