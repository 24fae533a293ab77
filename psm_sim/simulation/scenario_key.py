"""Hash of a scenario and of the user's files that determine its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from psm_sim.common.component_spec import Spec
from psm_sim.common.hashing import digest_of, file_digest
from psm_sim.network import Topology
from psm_sim.network.topology_sections import StationSpec
from psm_sim.version import __version__
from psm_sim.workload import Workload
from psm_sim.workload.loading import find_trace

if TYPE_CHECKING:
    from psm_sim.simulation.scenario import Scenario

DigestCache = dict[tuple[Any, ...], str]
"""Digests of parts by their description, so that parts shared by several scenarios are hashed once."""


def hash_of(scenario: Scenario, policies: Sequence[str | Spec], cache: DigestCache) -> str:
    """Return the hash of a scenario, 64 hexadecimal digits.

    Parameters
    ----------
    scenario
        The scenario.
    policies
        Policies that are run.
    cache
        Digests of parts, which is updated.
    """
    parts = [_topology_part(scenario, cache), _trace_part(scenario, cache)]
    parts += [
        _cached_digest(cache, ("policy", str(policy)), partial(_policy_facts, policy)) for policy in policies
    ]
    return digest_of([__version__, scenario.pages, scenario.seed, parts])


def _topology_part(scenario: Scenario, cache: DigestCache) -> str:
    def facts() -> Any:
        contents = [file_digest(file) for file in Spec(scenario.topology_name).files()]
        topology = scenario.resolve_topology()
        stations = [_station_facts(station) for station in topology.stations]
        return [scenario.topology_name, topology.config(), contents, *([stations] if stations else [])]

    if isinstance(scenario.topology, Topology):
        return digest_of(facts())
    name = ("topology", scenario.topology, scenario.profile, *scenario.settings.items())
    return _cached_digest(cache, name, facts)


def _station_facts(station: StationSpec) -> list[Any]:
    facts: list[Any] = [repr(station)]
    facts += [_policy_facts(station.policy)] if station.policy else []
    facts += [_trace_facts(Spec.of(station.trace, "trace"))] if station.trace else []
    return facts + [file_digest(file) for file in Spec(station.profile or "").files()]


def _trace_part(scenario: Scenario, cache: DigestCache) -> str:
    trace = scenario.trace
    if isinstance(trace, Workload):
        return digest_of([trace.name, repr(trace.pages), repr(trace.messages)])
    spec = Spec.of(trace, "trace")
    return _cached_digest(cache, ("trace", str(spec)), partial(_trace_facts, spec))


def _cached_digest(cache: DigestCache, name: tuple[Any, ...], facts: Callable[[], Any]) -> str:
    if name not in cache:
        cache[name] = digest_of(facts())
    return cache[name]


def _trace_facts(spec: Spec) -> list[str]:
    path = find_trace(spec.name)
    files = dict.fromkeys([path, *spec.files()])
    return [str(spec), *map(file_digest, files)]


def _policy_facts(policy: str | Spec) -> list[str]:
    spec = Spec.of(policy, "policy")
    return [str(spec), *map(file_digest, spec.files())]
