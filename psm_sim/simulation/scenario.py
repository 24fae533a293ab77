"""Scenario: which pages are loaded, and where; everything but the policy that decides a run's numbers."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from psm_sim.bundled_files import bundled_names
from psm_sim.component_spec import Spec
from psm_sim.errors import InputError
from psm_sim.formatting import format_pairs
from psm_sim.limits import MAX_SEED
from psm_sim.network import Topology, load_topology
from psm_sim.network.chip_profiles import load_profile
from psm_sim.simulation.scenario_key import DigestCache, hash_of
from psm_sim.workload import Workload, load_workload, load_workloads
from psm_sim.workload.loading import find_trace

_TOPOLOGY = "three-node"


@dataclass(frozen=True)
class Scenario:
    """A trace, a topology, and how many pages are drawn with which seed.

    Parameters
    ----------
    trace
        A bundled trace or a file, as text or spec; or a workload already made.
    topology
        A bundled topology or a TOML file; or a topology already made.
    pages
        The number of pages, at least 1; a recording gives its first *pages*, or all it has.
    seed
        The seed of everything drawn, 0 or more.
    settings
        Topology keys to override, as ``{"links.wired.latency_ms": 80}``; values or their texts.
    profile
        A chip whose keys are laid over the topology, below the settings; empty for none.

    Raises
    ------
    InputError
        If the number of pages or the seed cannot be used.
    """

    trace: str | Spec | Workload = "ucb"
    topology: str | Topology = _TOPOLOGY
    pages: int = 100
    seed: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)
    profile: str = ""

    def __post_init__(self) -> None:
        for name, value, least in (("pages", self.pages, 1), ("seed", self.seed, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(f"{name} is {value!r}; expected a whole number of at least {least}.")
        if self.seed > MAX_SEED:
            raise InputError(f"seed is {self.seed}; expected at most {MAX_SEED}.")
        object.__setattr__(self, "settings", dict(self.settings))

    @property
    def trace_name(self) -> str:
        """The trace as the user wrote it, or the name of the workload."""
        return self.trace.name if isinstance(self.trace, Workload) else str(self.trace)

    @property
    def topology_name(self) -> str:
        """The topology as the user wrote it, or the name of the one already made."""
        return self.topology.name if isinstance(self.topology, Topology) else self.topology

    @property
    def facts(self) -> dict[str, Any]:
        """The trace, topology, settings and seed, as they stand in every frame of results."""
        settings = format_pairs(self.settings)
        return {
            "trace": self.trace_name,
            "topology": self.topology_name,
            **({"profile": self.profile} if self.profile else {}),
            "settings": settings,
            "seed": self.seed,
        }

    @property
    def is_piped(self) -> bool:
        """Whether its trace comes through a pipe, which one process alone can read."""
        return (
            not isinstance(self.trace, Workload) and find_trace(Spec.of(self.trace, "trace").name).is_fifo()
        )

    def workload(self) -> Workload:
        """Return the pages of the one client that the trace chooses; errors as :func:`load_workload`."""
        if isinstance(self.trace, Workload):
            return self.trace
        return load_workload(self.trace, self.pages, self.seed)

    def workloads(self) -> tuple[Workload, ...]:
        """Return the pages of each client that the trace chooses; errors as :func:`load_workloads`."""
        if isinstance(self.trace, Workload):
            return (self.trace,)
        return load_workloads(self.trace, self.pages, self.seed)

    def resolve_topology(self) -> Topology:
        """Return the topology with the settings; faults without a seed of their own have the scenario's.

        Errors as :meth:`resolve_unseeded_topology`.
        """
        return self.resolve_unseeded_topology().with_fault_seed(self.seed)

    def resolve_unseeded_topology(self) -> Topology:
        """Return the topology with the settings, the same for every seed of the scenario.

        Raises
        ------
        InputError
            If there is no such topology, or a setting is unknown, out of its range, or beside a topology
            already made; or if a battery is given whose life cannot be told without the supply voltage.
        """
        if not isinstance(self.topology, Topology):
            topology = load_topology(self.topology, {**self.chip, **self.settings})
            topology.power.check_battery()
            return topology
        for name, value in (("settings", self.settings), ("profile", self.profile)):
            if value:
                raise InputError(f"{name} is {value!r} beside a Topology made already; set them in it.")
        return self.topology

    @property
    def chip(self) -> Mapping[str, Any]:
        """The topology keys of the profile."""
        return load_profile(self.profile).values if self.profile else {}

    def command(self, policies: Sequence[str | Spec]) -> str:
        """Return the command line that runs *policies* in this scenario, quoted for a shell.

        Raises
        ------
        InputError
            If the trace or the topology was made in Python: no words name it.
        """
        for name, value in (("trace", self.trace), ("topology", self.topology)):
            if isinstance(value, (Workload, Topology)):
                raise InputError(f"{name} is {value.name!r}, made in Python; expected a name or a file.")
        options = [("policy", policy) for policy in policies]
        options += [("trace", self.trace_name), ("pages", str(self.pages)), ("seed", str(self.seed))]
        options += [("topology", self.topology_name)] if self.topology != _TOPOLOGY else []
        options += [("profile", self.profile)] if self.profile else []
        options += [("set", f"{key}={value}") for key, value in self.settings.items()]
        words = [word for option, value in options for word in (f"--{option}", str(value))]
        return shlex.join(["python", "-m", "psm_sim", *words])

    def files(self, policies: Sequence[str | Spec] = ()) -> list[Path]:
        """Return the user's files that it and *policies* name; bundled ones are not among them."""
        specs = [Spec.of(policy, "policy") for policy in policies]
        specs += [] if isinstance(self.topology, Topology) else [Spec(self.topology)]
        specs += [Spec(self.profile)] if self.profile else []
        own = [file for spec in specs for file in spec.files()]
        if not isinstance(self.trace, Workload):
            spec = Spec.of(self.trace, "trace")
            own += [] if spec.name in bundled_names("traces") else [find_trace(spec.name)]
            own += spec.files()
        return list(dict.fromkeys(own))

    def key(self, policies: Sequence[str | Spec] = (), cache: DigestCache | None = None) -> str:
        """Return a hash of everything that decides the numbers, 64 hexadecimal digits.

        That is the version, the trace, every key of the topology, the number of pages, the seed, and the
        *policies* that are run; with the contents of the files that they name. Modules that a user's own
        file imports are not followed. Give the keys of many scenarios one dictionary *cache*, empty at
        first: what they have in common is then read once.

        Raises
        ------
        InputError
            If a file cannot be read, or the trace comes through a pipe: its key would be another each time.
        """
        return hash_of(self, policies, {} if cache is None else cache)
