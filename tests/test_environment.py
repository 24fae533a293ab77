"""The reinforcement learning environment: its rewards add up to the run, and it equals a policy class."""

from __future__ import annotations

import copy
import gc
import importlib
import pickle
import sys
import threading

import numpy as np
import pytest
from greenlet import greenlet
from gymnasium.utils.env_checker import check_env

import psm_sim
from psm_sim.common.errors import InputError
from psm_sim.environment import PowerSaveEnv
from psm_sim.network.page_outcomes import PageError
from psm_sim.policies import Rest
from psm_sim.policies.helpers.driver_view import AWAKE_MS, OBSERVATION, ObservingPolicy
from psm_sim.simulation import Scenario
from psm_sim.simulation.table import usage_of
from tests.page_rows import page_rows

NAMES = [component.name for component in OBSERVATION]


def decide(values):
    """Return an action for an observation, by a rule that uses many of its values."""
    seen = dict(zip(NAMES, np.asarray(values, np.float32).tolist(), strict=True))
    if seen["waiting"]:
        return int(seen["since_request_s"] < 0.05) * 6, 0
    return 0, min(11, int(2 * seen["since_sent_s"] + seen["beacon"]))


class Same(ObservingPolicy):
    """Policy that decides with :func:`decide`."""

    name = "same"

    def rest(self, now_s, since_uplink_s, poll):
        awake, beacons = decide(self.observe(now_s, poll))
        return Rest(AWAKE_MS[awake] / 1000, beacons + 1)


def play(env, seed, act):
    """Step one episode; return the rewards, the last information and the observations."""
    observation, info = env.reset(seed=seed)
    rewards, seen, terminated = [], [observation], False
    while not terminated:
        observation, reward, terminated, truncated, info = env.step(act(observation))
        assert not truncated
        rewards.append(reward)
        seen.append(observation)
    return rewards, info, seen


def test_the_environment_passes_the_gymnasium_checker():
    """The checker has no warnings."""
    check_env(PowerSaveEnv(Scenario(pages=2)), skip_render_check=True)


SCENARIOS = [
    Scenario(pages=6),
    Scenario("modern", pages=2, settings={"access_point.release_on_uplink": "false"}),
    Scenario(pages=4, settings={"mac.model": "dcf"}),
    Scenario(pages=4, profile="esp32-c6"),
    Scenario(pages=4, settings={"faults.wired.loss": "0.02"}),
    Scenario("phone", pages=4),
    Scenario("mqtt:stretch_s=100", pages=2),
    Scenario("pushes", pages=3),
    Scenario(pages=4, settings={"access_point.group_per_s": "5"}),
]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: str(scenario.trace))
def test_the_rewards_add_up_to_the_energy_and_the_delay_of_the_run(scenario):
    """The actions are random. The result equals that of a run, and the observations are in their space."""
    env = PowerSaveEnv(scenario, price=0.7)
    env.action_space.seed(4)
    rewards, info, seen = play(env, 3, lambda _: env.action_space.sample())
    result = info["result"]
    pages_s = sum(page.page_time_s - page.always_on_time_s for page in page_rows(result))
    always_on = prepare_always_on(scenario)
    messages_s = total_latency_s(result) - total_latency_s(always_on)
    energy_j = usage_of(result.row).total_j
    assert sum(rewards) == pytest.approx(-energy_j - 0.7 * (pages_s + messages_s), rel=1e-9)
    assert info["energy_j"] == energy_j
    assert all(env.observation_space.contains(observation) for observation in seen)
    assert info["time_s"] == result["simulated_s"]


def prepare_always_on(scenario):
    return psm_sim.simulate(
        "always-on",
        scenario.trace,
        pages=scenario.pages,
        seed=3,
        settings=scenario.settings,
        profile=scenario.profile or None,
    )


def total_latency_s(result):
    return sum(sum(latencies_s) for _, _, latencies_s in result.blocks[0].messages.values())


def test_an_episode_equals_a_run_of_the_same_policy_bit_for_bit():
    """Energy, page times and simulated time are compared."""
    _, info, _ = play(PowerSaveEnv(Scenario(pages=8)), 5, decide)
    run = psm_sim.simulate(Same, pages=8, seed=5)
    assert usage_of(info["result"].row) == usage_of(run.row)
    assert page_rows(info["result"]) == page_rows(run)


def test_a_seed_reproduces_an_episode_and_the_default_seeds_are_tuning_seeds():
    """Episodes without a seed follow from the last seed."""
    env = PowerSaveEnv(Scenario(pages=1))
    runs = [play(env, seed, lambda _: (0, 0))[1]["time_s"] for seed in (7, None, None, 7, None, None)]
    assert runs[:3] == runs[3:]
    assert len(set(runs)) == 3
    again = [play(PowerSaveEnv(Scenario(pages=1)), None, decide)[1]["time_s"] for _ in range(2)]
    assert again[0] == again[1]


def running_greenlets():
    """Return the number of running greenlets."""
    gc.collect()
    return sum(1 for item in gc.get_objects() if type(item) is greenlet and item)


def test_closing_the_environment_leaves_no_thread_and_no_run():
    """A page or a SimPy process may be in progress."""
    threads, greenlets = threading.active_count(), running_greenlets()
    env = PowerSaveEnv(Scenario(pages=3))
    for steps in (0, 1, 40, 130):
        env.reset(seed=2)
        for _ in range(steps):
            env.step((1, 0))
        env.close()
        env.close()
        assert threading.active_count() == threads
    assert running_greenlets() == greenlets
    with pytest.raises(InputError, match=r"step\(\) requires an episode"):
        env.step((0, 0))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])  # noqa: S301
def test_a_copy_of_the_environment_has_the_same_episodes_and_must_be_reset_first(copied):
    env = PowerSaveEnv(Scenario(pages=1), price=2.0, awake_ms=(0.0, 5.0), max_beacons=3)
    env.reset(seed=5)
    other = copied(env)
    with pytest.raises(InputError, match="call reset"):
        other.step((0, 0))
    assert other.action_space == env.action_space
    other.reset(seed=5)
    assert other.step((1, 2))[1] == env.step((1, 2))[1]


def test_reset_ends_the_current_episode():
    """The next episode does not depend on the ended one."""
    env = PowerSaveEnv(Scenario(pages=2))
    first, _ = env.reset(seed=2)
    env.step((3, 2))
    second, _ = env.reset(seed=2)
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("action", [(9, 0), (0, 12), (-1, 0), (0, -1), None, (0,), 0.5, (0.5, 0), ("0", 0)])
def test_an_action_out_of_range_is_an_error(action):
    """The message has the space of actions."""
    env = PowerSaveEnv(Scenario(pages=1))
    env.reset(seed=1)
    with pytest.raises(InputError, match=r"^action must be an element of MultiDiscrete\(\[ 9 12\]\), got "):
        env.step(action)


def test_a_page_that_cannot_be_loaded_ends_the_episode():
    """The error is that of a run. The environment can be reset."""
    env = PowerSaveEnv(Scenario(pages=2), max_beacons=60_000)
    env.reset(seed=1)

    def doze_on():
        while True:
            env.step((0, 59_999))

    with pytest.raises(PageError, match="under stepped cannot be loaded"):
        doze_on()
    env.reset(seed=1)
    env.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"price": -1.0}, "price must be"),
        ({"max_beacons": 0}, "max_beacons must be"),
        ({"awake_ms": (0.0, -1.0)}, "awake_ms must be"),
        ({"awake_ms": ()}, "awake_ms must have at least one time"),
        ({"scenario": "ucb"}, "scenario must be a Scenario, got 'ucb'"),
        ({"scenario": Scenario(topology="cafe")}, "topology cafe has several stations; expected one"),
    ],
)
def test_an_argument_out_of_range_is_an_error(arguments, message):
    """The error precedes the first episode."""
    with pytest.raises(InputError, match=message):
        PowerSaveEnv(**arguments)


def test_the_error_without_gymnasium_has_the_command_to_install_it(monkeypatch):
    """The rest of psm_sim does not require gymnasium."""
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "psm_sim.environment")
    with pytest.raises(ImportError, match=r"requires Gymnasium and greenlet; install them with pip install"):
        importlib.import_module("psm_sim.environment")


def test_an_observation_has_exactly_what_a_driver_can_know():
    """The observation of a hand-computed request has the whole past, and nothing of the future."""
    env = PowerSaveEnv(Scenario(pages=1))
    first, _ = env.reset(seed=1)
    assert dict(zip(NAMES, first.tolist(), strict=True)) == {
        **dict.fromkeys(NAMES, 0.0),
        "to_beacon_s": pytest.approx(0.1),
    }
    seen = [dict(zip(NAMES, values.tolist(), strict=True)) for values in play(env, 1, lambda _: (0, 0))[2]]
    waiting = next(values for values in seen if values["waiting"])
    assert waiting["sent_frames"] == 1  # the SYN interrupted a doze
    assert 0 < waiting["slept_s"] <= 0.1
    assert waiting["beacon"] == 0
    assert sum(values["received_frames"] for values in seen) > 0
