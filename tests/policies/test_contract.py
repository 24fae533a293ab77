"""What every policy must do, built in or a user's own."""

from __future__ import annotations

import copy
import pickle
from math import inf

import pytest

from psm_sim.network import World, load_topology
from psm_sim.parameters import parameters_of
from psm_sim.policies import POLICIES, Policy, Poll, Rest, make_policy
from psm_sim.workload import load_workload

SPECS = [*POLICIES.names(), "psm:listen_interval=10", "bsd:p=0.1,max_sleep_ms=none", "lpsm:loss=inverse"]
POLLS = [
    None,
    Poll(100.0),
    Poll(63.0, 40, 1, ((10.0, 40),)),
    Poll(1200.0, 3000, 2, ((1.0, 1500), (2.0, 1500))),
]


@pytest.fixture(params=SPECS)
def policy(request) -> Policy:
    made = make_policy(request.param)
    made.start(0.1)
    return made


def test_it_answers_with_a_rest_that_can_be_kept(policy):
    """Seconds awake, a whole number of beacons, a promise only without further waiting."""
    now_s = 0.0
    for number in range(60):
        rest = policy.rest(now_s, now_s / 2, POLLS[number % 4])
        assert isinstance(rest, Rest)
        assert 0 <= rest.awake_s <= inf
        assert rest.beacons == int(rest.beacons) >= 1
        assert not (rest.repeat and rest.awake_s)
        now_s += 0.3


def test_it_can_be_copied_and_pickled_and_goes_on_alike(policy):
    """A copy learns on its own and answers as the original does."""
    policy.rest(0.1, 0.1, POLLS[3])
    twins = [copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))]  # noqa: S301
    for poll in POLLS:
        answers = [each.rest(1.0, 0.5, poll) for each in (policy, *twins)]
        assert answers[0] == answers[1] == answers[2]


def test_starting_again_forgets_what_was_seen(policy):
    """A run never begins with another run's experience."""
    fresh = copy.deepcopy(policy)
    fresh.start(0.1)
    for number in range(30):
        policy.rest(0.7 * number, 0.7, POLLS[3])
    policy.start(0.1)
    assert [policy.rest(9.0, 1.0, poll) for poll in POLLS] == [fresh.rest(9.0, 1.0, poll) for poll in POLLS]


def test_its_parameters_are_documented_and_plain(policy):
    """Each has a sentence; the values stand in the result."""
    declared = parameters_of(type(policy))
    assert all(each.help for each in declared.values())
    assert set(policy.config()) == set(declared)
    assert all(
        value is None or isinstance(value, (bool, int, float, str)) for value in policy.config().values()
    )


def test_it_has_a_name_and_a_docstring(policy):
    """``policies`` lists them."""
    assert policy.name in POLICIES.names()
    assert type(policy).__doc__


def test_two_runs_of_one_policy_are_the_same(policy):
    """To the last bit."""
    pages = load_workload("ucb", 5, 3).pages
    usages = []
    for _ in range(2):
        world = World(load_topology(), copy.deepcopy(policy))
        world.run(pages)
        usages.append((world.usage(), world.visits))
    assert usages[0] == usages[1]
