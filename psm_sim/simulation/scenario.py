"""Scenario of a simulation: everything that determines the results, except the policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from typing import Any

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.formatting import format_pairs
from psm_sim.common.input_files import bundled_names, file_digest
from psm_sim.common.input_limits import MAX_SEED
from psm_sim.common.provenance import code_versions, digest_of
from psm_sim.network import Topology, load_topology
from psm_sim.network.chip_profiles import load_profile, parse_battery
from psm_sim.network.topology import topology_files
from psm_sim.version import __version__
from psm_sim.workload import Workload, load_workload, load_workloads
from psm_sim.workload.loading import find_trace


@dataclass(frozen=True)
class Scenario:
    """Trace, topology, number of pages and seed of a simulation.

    Parameters
    ----------
    trace : str, Spec or Workload
        Bundled trace, trace file, or workload.
    topology : str or Topology
        Bundled topology, TOML file, or topology.
    pages : int
        Number of pages, at least 1. A recording is limited to its first *pages* pages.
    seed : int
        Seed of all random values, at least 0.
    settings : mapping of str to object
        Topology keys to override, such as ``{"links.wired.latency_ms": 80}``. Values may be strings.
    profile : str
        Chip whose keys are applied to the topology before the settings; empty for none.
    battery : str, optional
        Capacity such as ``"2000mAh"``, which adds the battery life to the results.

    Raises
    ------
    InputError
        If the number of pages, the seed or the battery is invalid.

    Examples
    --------
    >>> from psm_sim.simulation import Scenario, run_comparison
    >>> scenario = Scenario("ucb", pages=5, settings={"links.wired.latency_ms": 80})
    >>> scenario.resolve_topology().wired.latency_ms
    80.0
    >>> comparison = run_comparison(["lpsm"], scenario)
    """

    trace: str | Spec | Workload = "ucb"
    topology: str | Topology = "three-node"
    pages: int = 100
    seed: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)
    profile: str = ""
    battery: str | None = None

    def __post_init__(self) -> None:
        numbers: tuple[tuple[str, Any, int], ...] = (("pages", self.pages, 1), ("seed", self.seed, 0))
        for name, value, minimum in numbers:
            if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
                raise InputError(f"{name} must be an integer >= {minimum}, got {value!r}.")
            object.__setattr__(self, name, int(value))  # JSON has no NumPy integers
        if self.seed > MAX_SEED:
            raise InputError(f"seed must be at most {MAX_SEED}, got {self.seed}.")
        object.__setattr__(self, "settings", dict(self.settings))

    @property
    def battery_mah(self) -> float | None:
        """Capacity of the battery in mAh; None without a battery."""
        return None if self.battery is None else parse_battery(self.battery)

    @property
    def trace_name(self) -> str:
        """The trace as the user specified it, or the name of the workload."""
        return self.trace.name if isinstance(self.trace, Workload) else str(self.trace)

    @property
    def topology_name(self) -> str:
        """The topology as the user specified it, or the name of the :class:`Topology`."""
        return self.topology.name if isinstance(self.topology, Topology) else self.topology

    @property
    def facts(self) -> dict[str, Any]:
        """Trace, topology, settings and seed, which are columns of every frame of results."""
        settings, battery_mah = format_pairs(self.settings), self.battery_mah
        return {
            "trace": self.trace_name,
            "topology": self.topology_name,
            **({"profile": self.profile} if self.profile else {}),
            **({"battery_mah": battery_mah} if battery_mah else {}),
            "settings": settings,
            "seed": self.seed,
        }

    def workload(self) -> Workload:
        """Return the workload of the single client that the trace selects.

        Raises
        ------
        InputError
            See :func:`~psm_sim.workload.load_workload`.
        """
        if isinstance(self.trace, Workload):
            return self.trace
        return load_workload(self.trace, self.pages, self.seed)

    def workloads(self) -> tuple[Workload, ...]:
        """Return the workload of each client that the trace selects.

        Raises
        ------
        InputError
            See :func:`~psm_sim.workload.load_workloads`.
        """
        if isinstance(self.trace, Workload):
            return (self.trace,)
        return load_workloads(self.trace, self.pages, self.seed)

    def resolve_topology(self) -> Topology:
        """Return the topology with profile, settings and seed.

        Raises
        ------
        InputError
            See :meth:`resolve_unseeded_topology`.
        """
        return replace(self.resolve_unseeded_topology(), seed=self.seed)

    def resolve_unseeded_topology(self, where: str = "settings") -> Topology:
        """Return the topology with profile and settings, which does not depend on the seed.

        The topology is loaded once. *where* is the name of the settings in error messages.

        Raises
        ------
        InputError
            If the topology does not exist, a setting is unknown or out of range, settings or a profile are
            combined with a :class:`Topology`, or a battery is specified without the supply voltage.
        """
        known: Topology | None = self.__dict__.get("_unseeded_topology")
        if known is None:
            known = self._resolve(where)
            object.__setattr__(self, "_unseeded_topology", known)
        return known

    def _resolve(self, where: str) -> Topology:
        if not isinstance(self.topology, Topology):
            topology = load_topology(self.topology, {**self.chip, **self.settings}, where)
            self._check_battery(topology)
            return topology
        for name, value in (("settings", self.settings), ("profile", self.profile)):
            if value:
                raise InputError(
                    f"{name}={value!r} conflicts with a Topology instance; set the values in the instance."
                )
        self.topology.check_stations()
        self._check_battery(self.topology)
        return self.topology

    def _check_battery(self, topology: Topology) -> None:
        if self.battery_mah is not None and topology.power.supply_v is None:
            raise InputError(
                f"battery={self.battery} requires a supply voltage; add --profile CHIP or"
                " --set power.supply_v=VOLTS."
            )

    @property
    def chip(self) -> Mapping[str, Any]:
        """Topology keys of the profile."""
        return load_profile(self.profile).values if self.profile else {}

    def files(self, policies: Sequence[str | Spec] = ()) -> list[Path]:
        """Return the user's files that the scenario and *policies* refer to, without bundled files."""
        specs = [Spec.of(policy, "policy") for policy in policies]
        for station in self.resolve_unseeded_topology().stations:
            specs += [Spec(text) for text in (station.policy, station.trace) if text]
            specs += _profile_specs(station.profile)
        specs += _profile_specs(self.profile)
        files = [] if isinstance(self.topology, Topology) else topology_files(self.topology)
        files += [file for spec in specs for file in spec.files()]
        if not isinstance(self.trace, Workload):
            spec = Spec.of(self.trace, "trace")
            files += [] if spec.name in bundled_names("traces") else [find_trace(spec.name)]
            files += spec.files()
        return list(dict.fromkeys(files))

    def key(self, policies: Sequence[str | Spec] = (), digest: Callable[[Path], str] = file_digest) -> str:
        """Return a hash of all inputs that determine the results, as 64 hexadecimal digits.

        The inputs are the trace, all topology keys, the number of pages, the seed, the *policies*, the source
        of psm_sim, and the versions of psm_sim, numpy, scipy and simpy. They include the contents of each
        file that a policy names, and of the modules that this file imports from its own folder. Files that a
        user's code opens while it runs are not included.

        Parameters
        ----------
        policies : sequence of str or Spec
            Policies that are run.
        digest : callable
            Function that returns the digest of a file. Pass the same cached function to each call, so that a
            file of several scenarios is read only once.

        Raises
        ------
        InputError
            If a file cannot be read.
        """
        topology = self.resolve_topology()
        traces = [Spec.of(station.trace, "trace") for station in topology.stations if station.trace]
        if isinstance(self.trace, Workload):
            traffic = repr((self.trace.name, self.trace.pages, self.trace.messages))
        else:
            traffic = str(self.trace)
            traces.append(Spec.of(self.trace, "trace"))
        files = dict.fromkeys([*(find_trace(trace.name) for trace in traces), *self.files(policies)])
        network = [self.topology_name, topology.config(), repr(topology.stations), self.battery_mah]
        inputs = [traffic, *network, self.pages, self.seed, list(map(str, policies))]
        return digest_of([__version__, code_versions(), inputs, list(map(digest, files))])


def _profile_specs(text: str | None) -> list[Spec]:
    """Return a list with the spec of a chip profile; empty without a profile."""
    return [Spec.parse(text, "profile")] if text else []
