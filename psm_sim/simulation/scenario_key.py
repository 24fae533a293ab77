"""Key of a scenario: one hash of everything that decides its numbers, files of the user's included."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from psm_sim.component_spec import Spec
from psm_sim.errors import InputError
from psm_sim.hashing import digest_of, file_digest
from psm_sim.network import Topology
from psm_sim.network.topology_stations import StationSpec
from psm_sim.version import __version__
from psm_sim.workload import Workload
from psm_sim.workload.loading import find_trace

if TYPE_CHECKING:
    from psm_sim.simulation.scenario import Scenario

DigestCache = dict[tuple[Any, ...], str]
"""Hashes of parts by what they are of, so that those that many scenarios share are worked out once."""


def hash_of(scenario: Scenario, policies: Sequence[str | Spec], cache: DigestCache) -> str:
    """Return the hash of a scenario, 64 hexadecimal digits.

    Parameters
    ----------
    scenario
        What is run.
    policies
        The policies that are run in it.
    cache
        Parts that are known already; others join it.
    """
    parts = [_topology_part(scenario, cache), _trace_part(scenario, cache)]
    parts += [_once(cache, ("policy", str(policy)), partial(_policy_facts, policy)) for policy in policies]
    return digest_of([__version__, scenario.pages, scenario.seed, parts])


def _topology_part(scenario: Scenario, cache: DigestCache) -> str:
    def facts() -> Any:
        contents = [file_digest(file) for file in Spec(scenario.topology_name).files()]
        topology = scenario.resolve_topology()
        shared = [_station_facts(member) for member in topology.stations]
        return [scenario.topology_name, topology.config(), contents, *([shared] if shared else [])]

    if isinstance(scenario.topology, Topology):
        return digest_of(facts())
    name = ("topology", scenario.topology, scenario.profile, *scenario.settings.items())
    return _once(cache, name, facts)


def _station_facts(member: StationSpec) -> list[Any]:
    found: list[Any] = [repr(member)]
    found += [_policy_facts(member.policy)] if member.policy else []
    found += [_trace_facts(Spec.of(member.trace, "trace"))] if member.trace else []
    return found + [file_digest(file) for file in Spec(member.profile or "").files()]


def _trace_part(scenario: Scenario, cache: DigestCache) -> str:
    trace = scenario.trace
    if isinstance(trace, Workload):
        return digest_of([trace.name, repr(trace.pages), repr(trace.messages)])
    spec = Spec.of(trace, "trace")
    return _once(cache, ("trace", str(spec)), partial(_trace_facts, spec))


def _once(cache: DigestCache, name: tuple[Any, ...], facts: Callable[[], Any]) -> str:
    if name not in cache:
        cache[name] = digest_of(facts())
    return cache[name]


def _trace_facts(spec: Spec) -> list[str]:
    path = find_trace(spec.name)
    if path.is_fifo():
        told = f"trace {spec} is a pipe, whose pages cannot be kept and read again"
        raise InputError(f"{told}; save it as a file.")
    files = dict.fromkeys([path, *spec.files()])
    return [str(spec), *map(file_digest, files)]


def _policy_facts(policy: str | Spec) -> list[str]:
    spec = Spec.of(policy, "policy")
    return [str(spec), *map(file_digest, spec.files())]
