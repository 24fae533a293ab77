"""Environment with the API of Gymnasium, in which each decision of a power-save policy is a step.

A run calls its policy from deep inside the network. Here the run is a greenlet, which hands each decision to
the caller of :meth:`PowerSaveEnv.step` and continues with the action. There is no second thread.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.errors import InputError, safe_repr
from psm_sim.common.input_limits import MAX_MS, MAX_WEIGHT
from psm_sim.common.parameters import Parameter
from psm_sim.network import Observer
from psm_sim.network.browser import Visit
from psm_sim.policies import Poll, Rest
from psm_sim.policies.helpers.driver_view import AWAKE_MS, MAX_BEACONS, OBSERVATION, ObservingPolicy
from psm_sim.simulation import Result, Scenario
from psm_sim.simulation.run import StationSetup, Times, execute, page_times_s, prepare_stations, run_workload
from psm_sim.simulation.table import Block, usage_of

try:
    import gymnasium
    from greenlet import getcurrent, greenlet
except ImportError:
    raise ImportError(
        "psm_sim.environment requires Gymnasium and greenlet; install them with pip install 'psm_sim[rl]'."
    ) from None

TUNING_SEEDS = 1, 1000
"""First and last seed of the episodes that begin without a seed."""

Observation = NDArray[np.float32]
_Action = NDArray[np.int64]
# The default price is about the power of an awake radio. Listen intervals have 16 bits.
_PRICE = Parameter("price", 1.0, unit="W", at_least=0, at_most=MAX_WEIGHT)
_MAX_BEACONS = Parameter("max_beacons", MAX_BEACONS, at_least=1, at_most=65_535)
_AWAKE_MS = Parameter("awake_ms", 0.0, unit="ms", at_least=0, at_most=MAX_MS)
_HIGH = np.array([component.high for component in OBSERVATION], np.float32)


class PowerSaveEnv(gymnasium.Env[Observation, _Action]):
    """Environment of one station, whose radio dozes as the actions determine.

    A step lasts from one decision to the next. A decision is due when the link becomes idle, and after a
    beacon at which no frame is buffered. An episode is the run of one scenario, and is never truncated.

    - An observation is a vector of the numbers that a driver knows
      (:data:`~psm_sim.policies.helpers.driver_view.OBSERVATION`).
    - An action is a pair of indices: ``awake_ms[action[0]]`` is the time to stay awake, and the radio then
      dozes for ``action[1] + 1`` beacons. A frame ends the time awake or the doze, as for every policy.
    - A reward is minus the energy in joules, minus *price* times the delay in seconds, both since the last
      decision.

    The delay of a page is its time minus its time without power saving. The delay of messages is the sum of
    their latencies, minus the same sum without power saving. A page is charged while it loads, and its time
    without power saving is refunded at its end. A message is charged at its arrival, and the latencies
    without power saving are refunded with the last reward. The rewards of an episode therefore add up to
    minus the energy of the run, minus *price* times its total delay.

    The dictionary ``info`` has the time, the energy and the delay since the start (``time_s``, ``energy_j``,
    ``delay_s``), and after the last step also the ``result``.

    Parameters
    ----------
    scenario : Scenario
        Trace, topology and number of pages. A seed passed to :meth:`reset` replaces that of the scenario.
    price : float
        Price of delay, in watts (joules for each second).
    awake_ms : sequence of float
        Times awake that an action can choose, in ms.
    max_beacons : int
        Longest doze that an action can choose, in beacons.

    Raises
    ------
    InputError
        If an argument is invalid, or the topology has several stations.

    Examples
    --------
    >>> from psm_sim.environment import PowerSaveEnv
    >>> env = PowerSaveEnv()
    >>> observation, info = env.reset(seed=1)
    >>> total, terminated = 0.0, False
    >>> while not terminated:
    ...     observation, reward, terminated, truncated, info = env.step((0, 0))  # static PSM
    ...     total += reward
    >>> round(total, 6) == -round(info["energy_j"] + env.price * info["delay_s"], 6)
    True
    """

    def __init__(
        self,
        scenario: Scenario = Scenario(pages=20),  # noqa: B008 (immutable)
        price: float = 1.0,
        awake_ms: Sequence[float] = AWAKE_MS,
        max_beacons: int = MAX_BEACONS,
    ) -> None:
        for parameter, value in ((_PRICE, price), (_MAX_BEACONS, max_beacons)):
            parameter.check(value, "environment")
        if len(awake_ms) == 0:
            raise InputError(f"environment: awake_ms must have at least one time, got {awake_ms!r}.")
        for value in awake_ms:
            _AWAKE_MS.check(value, "environment")
        if not isinstance(scenario, Scenario):
            raise InputError(f"environment: scenario must be a Scenario, got {safe_repr(scenario)}.")
        if scenario.resolve_unseeded_topology().stations:
            raise InputError(
                f"environment: topology {scenario.topology_name} has several stations; expected one."
            )
        self.scenario, self.price, self.awake_ms = scenario, price, tuple(awake_ms)
        self.observation_space = gymnasium.spaces.Box(np.zeros_like(_HIGH), _HIGH)
        self.action_space = gymnasium.spaces.MultiDiscrete([len(self.awake_ms), max_beacons])
        self._awake_s, self._max_beacons = [awake / 1000 for awake in awake_ms], max_beacons
        self._load = lru_cache(TUNING_SEEDS[1])(self._load_traffic)  # training repeats seeds
        self._paid = 0.0  # sum of the rewards so far, negated
        self._np_random, self._np_random_seed = gymnasium.utils.seeding.np_random(scenario.seed)
        self._episode: _Episode | None = None

    def __reduce__(self) -> tuple[type[PowerSaveEnv], tuple[Any, ...]]:
        """Copy or pickle the arguments. A copy has no episode, because a greenlet cannot be copied."""
        return type(self), (self.scenario, self.price, self.awake_ms, self._max_beacons)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a run, and return its first observation.

        Parameters
        ----------
        seed : int, optional
            Seed of the scenario. By default, the seed is drawn from the tuning seeds of the benchmark.
        options : dict, optional
            Not used.
        """
        super().reset(seed=seed)
        self.close()
        first, last = TUNING_SEEDS
        drawn = int(self.np_random.integers(first, last + 1)) if seed is None else seed
        self._episode, self._paid = _Episode(self._load(drawn)), 0.0
        return self._advance(None)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Continue the run until the next decision.

        Parameters
        ----------
        action : sequence of int
            Index of the time awake, and the number of beacons to doze, minus 1.

        Returns
        -------
        tuple
            Observation, reward, whether the run has ended, False, and the information.

        Raises
        ------
        InputError
            If the action is not in the action space, no episode has begun, or a page cannot be loaded.
        """
        try:
            awake, beacons = map(operator.index, action)
        except (TypeError, ValueError):
            awake = beacons = -1
        if not (0 <= awake < len(self._awake_s) and 0 <= beacons < self._max_beacons):
            raise InputError(f"action must be an element of {self.action_space}, got {safe_repr(action)}.")
        observation, info = self._advance(Rest(self._awake_s[awake], beacons + 1))
        before, self._paid = self._paid, info["energy_j"] + self.price * info["delay_s"]
        return observation, before - self._paid, "result" in info, False, info

    def close(self) -> None:
        """End the run, if there is one. The environment can be reset again."""
        episode, self._episode = self._episode, None
        if episode is not None:
            episode.close()

    def _advance(self, rest: Rest | None) -> tuple[Observation, dict[str, Any]]:
        episode = self._episode
        if episode is None:
            raise InputError("step() requires an episode; call reset() first.")
        try:
            values = episode.advance(rest)
        except BaseException:
            self._episode = None  # the run has failed
            raise
        observation = np.array(values, np.float32)
        np.minimum(observation, _HIGH, out=observation)
        info: dict[str, Any] = {
            "time_s": episode.now_s,
            "energy_j": episode.energy_j,
            "delay_s": episode.delay_s,
        }
        if episode.result is not None:
            self._episode, info["result"] = None, episode.result
        return observation, info

    def _load_traffic(self, seed: int) -> _Traffic:
        scenario = replace(self.scenario, seed=seed)
        topology, workload = scenario.resolve_topology(), scenario.workload()
        always_on = run_workload("always-on", topology, workload)
        station = StationSetup(topology, workload)
        return _Traffic(station, page_times_s(always_on), _total_latency_s(always_on))


class _Traffic(NamedTuple):
    """Station of an episode with its traffic, and the times without power saving."""

    station: StationSetup
    page_times_s: Times
    latency_s: float


class _Episode:
    """Run that stops at each decision.

    Attributes
    ----------
    now_s, energy_j, delay_s : float
        Time of the last decision or of the end, and the energy and the delay since the start.
    result : Result or None
        Result of the run; None until it has ended.
    """

    def __init__(self, traffic: _Traffic) -> None:
        self._traffic = traffic
        self._delay = _PageDelay(traffic)
        (self._run,) = runs = prepare_stations(_SteppedPolicy, [traffic.station], [[self._delay]])
        assert isinstance(self._run.policy, _SteppedPolicy)  # noqa: S101 (prepare creates the class)
        self._policy = self._run.policy
        self._latency_s = 0.0
        self._latencies_counted: dict[str, int] = {}
        self.now_s = self.energy_j = self.delay_s = 0.0
        self.result: Result | None = None
        arguments = runs, [traffic.station], _SteppedPolicy, None, [traffic.page_times_s]
        self._greenlet = greenlet(lambda _: execute(*arguments)[0])

    def advance(self, rest: Rest | None) -> list[float]:
        """Continue with *rest* until the next decision or the end, and return the observation."""
        self._policy.caller = getcurrent()
        outcome = self._greenlet.switch(rest)
        if isinstance(outcome, Block):
            self.result = Result((outcome,))
            self.now_s, self.energy_j = self.result["simulated_s"], usage_of(self.result.row).total_j
            self.delay_s = self._delay.total_s + _total_latency_s(outcome) - self._traffic.latency_s
            return self._policy.observe(self.now_s, None)
        self.now_s, values = outcome
        self.energy_j = self._run.world.ledger.usage(self.now_s).total_j
        self.delay_s = self._delay.until_s(self.now_s) + self._arrived_latency_s()
        return values  # type: ignore[no-any-return]  # greenlets pass objects of any type

    def close(self) -> None:
        """End the run by raising an exception in each decision until the run has ended."""
        while self._greenlet:
            self._greenlet.throw()

    def _arrived_latency_s(self) -> float:
        """Return the sum of the latencies of all messages that have arrived."""
        messenger = self._run.world.messenger
        if messenger is not None:
            for name, stats in messenger.stats.items():
                counted = self._latencies_counted.get(name, 0)
                self._latency_s += sum(stats.latencies_s[counted:])
                self._latencies_counted[name] = len(stats.latencies_s)
        return self._latency_s


class _SteppedPolicy(ObservingPolicy):
    """Policy that switches to the greenlet *caller* for each decision."""

    name: ClassVar[str] = "stepped"
    caller: greenlet

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        return self.caller.switch(now_s, self.observe(now_s, poll))  # type: ignore[no-any-return]


class _PageDelay(Observer):
    """Delay of the pages, in seconds.

    A page that failed without power saving has no delay.
    """

    def __init__(self, traffic: _Traffic) -> None:
        self._pages, self._times_s = traffic.station.workload.pages, traffic.page_times_s.tolist()
        self._ended = 0
        self._next_s = self._pages[0].think_s
        self.total_s = 0.0

    def page(self, visit: Visit) -> None:
        taken_s = visit.ended_s - visit.started_s
        reference_s = self._times_s[self._ended]
        self.total_s += 0.0 if math.isnan(reference_s) else taken_s - reference_s
        self._ended += 1
        pages, ended = self._pages, self._ended
        self._next_s = visit.ended_s + pages[ended].think_s if ended < len(pages) else math.inf

    def until_s(self, now_s: float) -> float:
        """Return the delay of the ended pages, plus the time since the start of the current page."""
        return self.total_s + max(0.0, now_s - self._next_s)


def _total_latency_s(block: Block) -> float:
    return float(sum(sum(latencies_s) for _, _, latencies_s in block.messages.values()))
