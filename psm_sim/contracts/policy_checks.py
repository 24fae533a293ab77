"""Contract checks of policies: direct calls, and whole runs of the simulator.

The calls are those of a station, see :class:`~psm_sim.policies.Policy`. The runs load a few pages of the
bundled ``ucb`` trace in the bundled topology.
"""

from __future__ import annotations

import json
import math
import pickle
from copy import deepcopy
from itertools import product

import numpy as np

from psm_sim.common.parameters import parameters_of
from psm_sim.contracts.report import Check, require
from psm_sim.contracts.shared_checks import (
    ODD_POLLS,
    POLLS,
    behaves_the_same_when_copied,
    behavior,
    can_be_copied,
    has_a_name_and_a_docstring,
    is_created_without_arguments,
    starts_each_run_anew,
)
from psm_sim.network import load_topology
from psm_sim.network.beacon_event_reference import schedule_every_beacon
from psm_sim.policies import Frame, Policy, Poll, Rest
from psm_sim.policies.user_policy_guard import guarded_policy
from psm_sim.simulation import Result, Scenario, simulate
from psm_sim.simulation.run import execute, prepare_stations, station_setups
from psm_sim.simulation.table import usage_of

CHECK_BEACON_S = 0.1
"""Beacon interval of the checks, in seconds."""
ODD_TIMES_S = (0.0, 1e-9, 0.05, 0.1, 0.1 + 0.2, 12345.678, 1e7)
"""Unusual times: the start, on and off the beacon grid, sums with rounding errors, and the far future."""
CHECK_FRAMES = (
    Frame(0, 40, 0, True, False, mss=1460),
    Frame(0, 340, 300, False, False),
    Frame(1, 1500, 1460, False, True),
    Frame(10**6, 40, 0, False, True),
    Frame(-1, 300, 272, False, False),
    Frame(-1, 300, 272, False, False, group=True),
)
"""SYN, request, end of a reply, FIN of an unknown connection, datagram, and group addressed frame."""

CHECK_PAGES, CHECK_SEED = 5, 3
"""Pages of a run, which take a fraction of a second, and an arbitrary seed."""
UPLINK_RULES = (
    {"access_point.release_on_uplink": "true"},
    {"access_point.release_on_uplink": "false"},
)
"""Both interpretations of the standard: whether an uplink packet releases the buffered frames."""


@behavior.register
def _rests(policy: Policy) -> list[Rest]:
    policy.start(CHECK_BEACON_S)
    return _answers(policy, deepcopy(POLLS))


def _answers(policy: Policy, polls: tuple[Poll | None, ...]) -> list[Rest]:
    return [policy.rest(1.0 + 0.7 * number, 0.35, poll) for number, poll in enumerate(polls)]


def run_pages(policy: Policy, mode: dict[str, str]) -> Result:
    """Simulate a few pages with the settings *mode*, one of :data:`UPLINK_RULES`."""
    return simulate(policy, pages=CHECK_PAGES, seed=CHECK_SEED, settings=mode)


def stores_its_parameters(policy: Policy) -> None:
    """Its config() has a plain JSON value for each parameter, and does not replace a default with None."""
    config = policy.config()
    for name, value in config.items():
        plain = value is None or isinstance(value, (bool, int, float, str))
        require(plain, f"config() has {name}={value!r}; expected a number, bool, str or None.")
    json.dumps(config, allow_nan=False)
    parameters, defaults = parameters_of(type(policy)), type(policy)().config()
    missing = set(parameters) - set(config)
    require(not missing, f"config() lacks {', '.join(sorted(missing))}; expected every parameter.")
    for name, declared in parameters.items():
        lost = declared.default is not None and defaults.get(name) is None
        require(not lost, f"config() has {name}=None; expected {declared.default!r}, stored as self.{name}.")


def returns_valid_rests(policy: Policy) -> None:
    """It returns a valid Rest for each observation, time and beacon interval, and after each hook."""
    guarded = guarded_policy(policy)
    for beacon_s in (0.02, 0.1024, CHECK_BEACON_S):
        guarded.start(beacon_s)
        for now_s, poll in product(ODD_TIMES_S, deepcopy((*POLLS, *ODD_POLLS))):
            for since_uplink_s in (0.0, now_s / 2, now_s):
                guarded.rest(now_s, since_uplink_s, poll)
    for now_s in ODD_TIMES_S:
        guarded.uplink(now_s)
        for poll in deepcopy((Poll(0.0), *POLLS[1:], *ODD_POLLS)):
            guarded.interrupted(poll)
        for frame in CHECK_FRAMES:
            guarded.sent(now_s, frame)
            guarded.received(now_s, frame)
            _answers(guarded, POLLS)


def leaves_polls_unchanged(policy: Policy) -> None:
    """It does not modify the polls that it receives."""
    policy.start(CHECK_BEACON_S)
    polls = deepcopy(POLLS)
    _answers(policy, polls)
    require(polls == POLLS, f"It modified the polls to {polls}; expected {POLLS}.")


def loads_every_page(policy: Policy) -> None:
    """Every page is loaded, whether or not an uplink packet releases the buffered frames."""
    for mode in UPLINK_RULES:
        times_s = run_pages(policy, mode).blocks[0].pages["page_time_s"].tolist()
        require(len(times_s) == CHECK_PAGES, f"{len(times_s)} pages were loaded; expected {CHECK_PAGES}.")
        require(all(0 < time_s < math.inf for time_s in times_s), f"The pages took {times_s} s.")


def adds_up_time_energy_and_bytes(policy: Policy) -> None:
    """The times of a run, its energy and its bytes are the sums of their parts."""
    power = load_topology().power
    for mode in UPLINK_RULES:
        row = run_pages(policy, mode).row
        usage = usage_of(row)
        joules = power.awake_w * usage.awake_s + power.asleep_w * usage.asleep_s
        joules += power.beacon_j * usage.beacons
        accounted = sum(
            row[f"traffic.{name}_bytes"] for name in ("client_received", "undelivered", "dropped")
        )
        for name, total, expected in (
            ("times awake and asleep add up", usage.awake_s + usage.asleep_s, row["simulated_s"]),
            ("energies of the states and beacons add up", joules, usage.total_j),
            ("bytes received, undelivered and dropped add up", accounted, row["traffic.server_sent_bytes"]),
        ):
            exact = math.isclose(total, expected, rel_tol=1e-12)
            require(exact, f"The {name} to {total}; expected {expected}.")


def repeats_a_run_exactly(policy: Policy) -> None:
    """The same seed gives bit-for-bit the same run."""
    for mode in UPLINK_RULES:
        _require_same_run(run_pages(policy, mode), run_pages(policy, mode), "A second run")


def is_unchanged_by_a_run(policy: Policy) -> None:
    """A run works on a copy and does not change the given policy."""
    before = pickle.dumps(policy)
    run_pages(policy, UPLINK_RULES[0])
    require(pickle.dumps(policy) == before, "A run changed the given policy.")


def decides_the_same_with_every_beacon(policy: Policy) -> None:
    """A run that handles each beacon as an event is bit-for-bit the same."""
    for mode in UPLINK_RULES:
        expected, scenario = (
            run_pages(policy, mode),
            Scenario(pages=CHECK_PAGES, seed=CHECK_SEED, settings=mode),
        )
        stations = station_setups(scenario, scenario.resolve_topology())
        (run,) = runs = prepare_stations(policy, stations)
        schedule_every_beacon(run.world)
        times_s = expected.blocks[0].pages["always_on_time_s"]
        (block,) = execute(runs, stations, policy, None, [times_s])
        _require_same_run(expected, Result((block,)), "A run with an event at every beacon")


def _require_same_run(expected: Result, result: Result, run_name: str) -> None:
    for name, value in expected.row.items():
        if name.startswith(("simulated_s", "usage.", "traffic.")):
            require(result[name] == value, f"{run_name} has {name}={result[name]}; expected {value}.")
    for name, values in expected.blocks[0].pages.items():
        others = result.blocks[0].pages[name]
        is_equal = np.array_equal(others, values, equal_nan=True)
        require(
            is_equal, f"{run_name} has {name}={others.tolist()} of the pages; expected {values.tolist()}."
        )


POLICY_CHECKS: tuple[Check, ...] = (
    can_be_copied,
    behaves_the_same_when_copied,
    has_a_name_and_a_docstring,
    is_created_without_arguments,
    stores_its_parameters,
    starts_each_run_anew,
    returns_valid_rests,
    leaves_polls_unchanged,
    loads_every_page,
    adds_up_time_energy_and_bytes,
    repeats_a_run_exactly,
    is_unchanged_by_a_run,
    decides_the_same_with_every_beacon,
)
"""Checks of a policy."""
