"""Offline optimum: the schedule of polls of minimum cost."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from math import inf

import numpy as np
import pytest

import psm_sim
from psm_sim.beacons import Beacons
from psm_sim.common.errors import InputError
from psm_sim.hindsight.offline_optimum import least_energy_j, offline_frontier, offline_optimum
from psm_sim.hindsight.traffic_chain import Chain, PolicyCost, Step, evaluate_policy
from psm_sim.hindsight.traffic_chain_recorder import record_chain, record_costs, record_slowdowns
from psm_sim.network import load_topology
from psm_sim.policies import Policy, Rest, make_policy
from psm_sim.simulation import Scenario
from psm_sim.workload import load_workload
from psm_sim.workload.page_view import Page
from tests.network.worlds import run_world

POLICIES = [
    "always-on", "psm", "psm:listen_interval=3", "bsd:p=1", "bsd:p=0.5", "bsd:p=0.2", "bsd:p=0.1",
    "lpsm:loss=inverse-log", "lpsm:loss=inverse,uplink=keep",
]  # fmt: skip
PRICES_W = (0.0, 0.003, 0.02, 0.1, 0.5, 3.0, 50.0)


def random_chain(seed: int, steps: int) -> Chain:
    """Return a chain of random idle periods and activities, some long, some below a beacon interval."""
    random = np.random.default_rng(seed)
    steps_ = []
    for _ in range(steps):
        idle_s = float(random.choice([random.uniform(0, 0.05), random.uniform(0, 0.4), random.uniform(0, 9)]))
        busy_s = float(random.uniform(1e-5, 0.03))
        since_s = float(random.uniform(0, busy_s)) if random.random() < 0.7 else inf
        steps_.append(Step(idle_s, bool(random.random() < 0.6), busy_s, since_s, ((0.0, 1500),)))
    return Chain(tuple(steps_), 1, Beacons(0.1), 0.75, 0.05, 0.0015)


class Choices(Policy):
    """Policy whose choice in each step is listed: awake, the last beacon before, or the k-th one after."""

    name = "choices"

    def __init__(self, chain: Chain, choices: tuple[int, ...]):
        self.chain, self.choices = chain, choices

    def start(self, beacon_s: float) -> None:
        """Begin with the first step."""
        super().start(beacon_s)
        self.step, self.waiting = -1, False

    def rest(self, now_s, since_uplink_s, poll):
        if self.waiting:
            self.waiting = False
            return Rest(awake_s=inf)
        self.step += 1
        choice, step = self.choices[self.step], self.chain.steps[self.step]
        due_s = now_s + step.idle_s
        first = self.beacon_grid.after(now_s)
        if not step.downlink:
            return Rest(beacons=10**6)
        if choice == 0:
            return Rest(awake_s=inf)
        if choice == 1:
            beacons = self.beacon_grid.before(due_s) - first + 1
            self.waiting = beacons >= 1
            return Rest(beacons=beacons) if beacons >= 1 else Rest(awake_s=inf)
        return Rest(beacons=self.beacon_grid.after(due_s) - first + choice - 1)


def every_schedule(chain: Chain) -> list[PolicyCost]:
    """Return the costs of all choices, including delays of two beacons."""
    ways = [range(4) if step.downlink else (0,) for step in chain.steps]
    return [evaluate_policy(chain, Choices(chain, choices)) for choices in product(*ways)]


@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_equals_brute_force_on_small_chains(seed):
    """All schedules of six activities are tried, without delay, at several prices, and under every bound."""
    chain = random_chain(seed, 6)
    schedules = every_schedule(chain)
    free = min(schedule.energy_j for schedule in schedules if schedule.delay_s < 1e-9)
    assert offline_optimum(chain).energy_j == pytest.approx(free, rel=1e-9)
    for price_w in PRICES_W:
        best = offline_optimum(chain, price_w)
        least = min(schedule.energy_j + price_w * schedule.delay_s for schedule in schedules)
        assert best.energy_j + price_w * best.delay_s == pytest.approx(least, rel=1e-9)
    for p in (1.0, 0.5, 0.2):
        allowed = [schedule.energy_j for schedule in schedules if schedule.worst_stretch <= 1 + p + 1e-8]
        assert offline_optimum(chain, 0.0, p).energy_j == pytest.approx(min(allowed), rel=1e-9)


def workload(seed: int) -> Chain:
    """Return the chain of a few pages under a random server delay, link and object sizes."""
    random = np.random.default_rng(1000 + seed)
    delay = random.choice(["none", "80", "350", "900"])
    pages = load_workload(f"ucb:server_delay_ms={delay},mean_think_s=8", 4, seed).pages
    latency = float(random.choice([2.0, 20.0, 60.0]))
    return record_chain(pages, load_topology("three-node", {"links.wired.latency_ms": latency}))


@pytest.mark.parametrize("seed", range(10))
def test_no_policy_uses_less_energy_than_the_optimum_under_the_same_constraint(seed):
    """The constraints are the delay of each policy, the bounds of BSD, and no delay."""
    chain = workload(seed)
    hull = offline_frontier(chain, 24)
    free = offline_optimum(chain)
    best_at = {price_w: offline_optimum(chain, price_w) for price_w in PRICES_W}
    for spec in POLICIES:
        played = evaluate_policy(chain, make_policy(spec))
        for price_w, best in best_at.items():
            assert best.energy_j + price_w * best.delay_s <= played.energy_j + price_w * played.delay_s + 1e-9
        if played.delay_s < 1e-9:
            assert free.energy_j <= played.energy_j + 1e-9
        if spec.startswith("bsd"):
            p = float(spec.partition("=")[2])
            assert played.worst_stretch <= 1 + p + 1e-8
            assert offline_optimum(chain, 0.0, p).energy_j <= played.energy_j + 1e-9
        assert hull[-1].energy_j <= played.energy_j + 1e-9


def test_the_frontier_is_convex_and_decreasing():
    """The ends are no delay and minimum energy; each corner is the optimum at some price."""
    pages = load_workload("ucb:server_delay_ms=300", 30, 2).pages
    hull = offline_frontier(record_chain(pages, load_topology()), 64)
    assert len(hull) > 5
    slopes = [(a.energy_j - b.energy_j) / (b.delay_s - a.delay_s) for a, b in pairwise(hull)]
    assert all(slope > 0 for slope in slopes)
    assert slopes == sorted(slopes, reverse=True)
    middle = (hull[1].delay_s + hull[2].delay_s) / 2
    assert hull[2].energy_j < least_energy_j(hull, middle) < hull[1].energy_j
    assert least_energy_j(hull, 1e9) == hull[-1].energy_j


def test_the_optimum_for_one_reply_agrees_with_the_hand_computed_optimum():
    """A reply arrives 40 ms after a packet sent on a beacon, and staying awake costs 28 mJ more than dozing.

    Without delay the radio must stay awake, because no beacon precedes the reply. A delay of 60 ms lets it
    doze to 100 ms.
    """
    step = Step(0.04, True, 0.001, inf, ((0.0, 40),))
    chain = Chain((step,), 1, Beacons(0.1), 0.75, 0.05, 0.0015)
    assert offline_optimum(chain).energy_j == pytest.approx(0.75 * 0.041)
    late = offline_optimum(chain, 0.0)
    assert (late.energy_j, late.delay_s) == (
        pytest.approx(0.05 * 0.1 + 0.0015 + 0.75 * 0.001),
        pytest.approx(0.06),
    )
    assert offline_optimum(chain, 0.0, 1.0).delay_s == 0.0
    assert offline_optimum(chain, 0.0, 1.5).delay_s == pytest.approx(0.06)


@pytest.mark.parametrize("policy", ["always-on", "bsd:p=0.5", "bsd:p=0.1"])
def test_the_energy_of_a_chain_without_delay_equals_that_of_the_simulator(policy):
    """The chain has no approximation in this case."""
    pages = load_workload("ucb:server_delay_ms=none", 20, 3).pages
    world = run_world(pages, policy)
    played = evaluate_policy(record_chain(pages, load_topology()), make_policy(policy))
    assert played.delay_s == pytest.approx(0.0, abs=1e-9)
    assert played.energy_j == pytest.approx(world.usage().total_j, rel=2e-4)


@pytest.mark.parametrize("policy", ["psm", "lpsm:loss=inverse-log"])
def test_the_energy_of_a_chain_with_delay_is_near_that_of_the_simulator(policy):
    """The tolerance is 2 %; the simulator retrieves buffered frames of several connections together."""
    pages = load_workload("ucb:server_delay_ms=none", 40, 3).pages
    world = run_world(pages, policy)
    played = evaluate_policy(record_chain(pages, load_topology()), make_policy(policy))
    assert played.energy_j == pytest.approx(world.usage().total_j, rel=0.02)


def test_the_chain_of_a_page_has_a_step_for_each_packet():
    """SYN, SYN-ACK with ACK and request, and reply, after the think time and two idle round trips."""
    chain = record_chain([Page(2.0, 1000, (), (300,), (0.0,))], load_topology())
    assert [step.downlink for step in chain.steps[:3]] == [False, True, True]
    assert chain.steps[0].idle_s == pytest.approx(2.0)
    assert chain.steps[1].idle_s == pytest.approx(0.0402, abs=3e-4)
    assert chain.steps[1].buffered == ((0.0, 40),)


@pytest.mark.parametrize("key", ["faults.wired.loss", "browser.max_page_s"])
def test_asking_for_the_optimum_of_a_network_with_faults_is_an_error(key):
    """A chain has no lost frames and no failed pages."""
    topology = load_topology("three-node", {key: 0.5})
    with pytest.raises(InputError, match="does not support faults"):
        record_chain([Page(2.0, 1000, (), (300,), (0.0,))], topology)
    with pytest.raises(InputError, match="does not support faults"):
        record_slowdowns([Page(2.0, 1000, (), (300,), (0.0,))], topology)


def open_costs(chain: Chain, choices: tuple[str, ...]) -> tuple[float, float]:
    """Return energy and delay of one choice per step, on a chain whose frames have fixed times."""
    now_s = clock_s = energy_j = delay_s = 0.0
    for step, choice in zip(chain.steps, choices, strict=True):
        frame_s = clock_s + step.idle_s
        clock_s = frame_s + step.busy_s
        begin_s, wake_s = max(now_s, frame_s), 0.0
        if choice == "before":
            wake_s = chain.beacons.time(chain.beacons.before(begin_s))
        if choice == "late":
            begin_s = wake_s = chain.beacons.time(chain.beacons.after(begin_s))
        if choice == "doze" or wake_s > now_s:
            energy_j += chain.asleep_w * ((begin_s if choice == "doze" else wake_s) - now_s)
            if choice != "doze":
                energy_j += chain.beacon_j + chain.awake_w * (begin_s - wake_s)
        else:
            energy_j += chain.awake_w * (begin_s - now_s)
        energy_j += chain.awake_w * step.busy_s
        delay_s += step.weight * (begin_s - frame_s)
        now_s = begin_s + step.busy_s
    return energy_j, delay_s


@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_equals_brute_force_if_frames_have_fixed_times(seed):
    """A late frame then delays another one only during its transmission."""
    chain = replace(random_chain(seed, 7), is_open=True)
    weights = np.random.default_rng(seed).integers(0, 3, 7)
    steps = tuple(s._replace(weight=float(w)) for s, w in zip(chain.steps, weights, strict=True))
    chain = replace(chain, steps=steps)
    ways = [("awake", "before", "late") if step.downlink else ("doze",) for step in steps]
    costs = [open_costs(chain, choices) for choices in product(*ways)]
    for price_w in PRICES_W:
        best = offline_optimum(chain, price_w)
        least = min(energy_j + price_w * delay_s for energy_j, delay_s in costs)
        assert best.energy_j + price_w * best.delay_s == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("trace", ["push", "mqtt", "ping"])
def test_no_policy_costs_less_than_the_optimum_on_messages(trace):
    """The cost is energy plus price times the latency added to all messages."""
    scenario = Scenario(trace, "modern", 1, 1, {"power.awake_w": 0.1, "power.asleep_w": 0.0005})
    chain, other_j = record_costs(scenario.workload(), scenario.resolve_topology())
    results = [
        psm_sim.simulate(policy, scenario.trace, "modern", 1, 1, scenario.settings)
        for policy in ("always-on", "psm", "bsd", "dynamic")
    ]
    latencies_s = [
        sum(latencies_s.sum() for _, _, latencies_s in result.blocks[0].messages.values())
        for result in results
    ]
    for price_w in (0.1, 1.0, 10.0):
        best = offline_optimum(chain, price_w)
        for result, latency_s in zip(results, latencies_s, strict=True):
            cost_j = result.energy_per_page_j + price_w * (latency_s - latencies_s[0])
            assert cost_j >= other_j + best.energy_j + price_w * best.delay_s - 1e-6


def test_asking_for_the_optimum_of_pages_and_messages_together_is_an_error():
    scenario = Scenario("phone", pages=2)
    with pytest.raises(InputError, match="has pages and messages; the offline optimum supports only one"):
        record_costs(scenario.workload(), scenario.resolve_topology())
