"""Conversion of the arguments of a run, from the command line or from Python, to scenario and policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, safe_repr
from psm_sim.common.formatting import flatten
from psm_sim.network import Topology, load_topology
from psm_sim.network.chip_profiles import load_profile
from psm_sim.network.topology import check_effects, topology_keys, unknown_key_error
from psm_sim.policies import Policy
from psm_sim.policies.factory import PolicyLike, with_loss
from psm_sim.simulation.comparison import References
from psm_sim.simulation.preset import Preset
from psm_sim.simulation.scenario import Scenario
from psm_sim.workload import Workload


@dataclass(frozen=True)
class RunArguments:
    """Arguments that define the scenario and the policies of a run.

    Attributes
    ----------
    trace : str, Spec, Workload or None
        Trace; None selects that of the preset.
    topology : str, Topology or mapping of str to object
        Name, file, topology, or dictionary of nested or dotted keys.
    pages, seed : int
        As for :class:`Scenario`.
    settings : mapping of str to object
        Topology keys of the user. Each of them must have an effect.
    defaults : mapping of str to object
        Topology keys that other arguments set, below *settings* and above those of the preset.
    preset : Preset
        Preset, whose parameters apply to its trace, to the policies and to the topology.
    profile : str
        Chip; empty for none.
    battery : str or None
        Capacity of the battery.
    loss : str or None
        Loss of each lpsm policy.
    clients : str, int or None
        Clients of a recording.
    where : str
        Name of the settings in error messages.
    """

    trace: str | Spec | Workload | None
    topology: str | Topology | Mapping[str, Any]
    pages: int
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    preset: Preset = field(default_factory=Preset)
    profile: str = ""
    battery: str | None = None
    loss: str | None = None
    clients: str | int | None = None
    where: str = "settings"

    def scenario(self) -> Scenario:
        """Return the scenario.

        Raises
        ------
        InputError
            If an argument is invalid or has no effect.
        """
        settings = {**self.preset.settings, **self.defaults, **self.settings}
        own: dict[str, Any] = {}
        if isinstance(self.topology, Mapping):
            own = _keys(self.topology)
            chip = load_profile(self.profile).values if self.profile else {}
            topology = _build_topology(self.topology, {**own, **chip, **settings})
            scenario = Scenario(self._trace(), topology, self.pages, self.seed, battery=self.battery)
        else:
            arguments = self._trace(), self.topology, self.pages, self.seed, settings, self.profile
            scenario = Scenario(*arguments, self.battery)
        resolved = scenario.resolve_unseeded_topology(self.where)
        check_effects(resolved, [*own, *self.settings], self.where)
        return scenario

    def policies(self, policies: Sequence[Any]) -> list[PolicyLike]:
        """Convert a list of policies. Specs get the preset's parameters and the loss."""
        if isinstance(policies, (str, Spec, Policy, type)) or not isinstance(policies, Sequence):
            raise InputError(f"policies must be a non-empty list, got {safe_repr(policies)}.")
        return [self.policy(policy) for policy in with_loss(policies, self.loss)]

    def policy(self, policy: Any) -> PolicyLike:
        """Convert a policy to a spec with the preset's parameters, unless it is an instance or a class."""
        if isinstance(policy, Policy) or (isinstance(policy, type) and issubclass(policy, Policy)):
            return policy
        if not isinstance(policy, (str, Spec)):
            raise InputError(
                "policy must be a name, FILE.py:CLASS, a Policy class or a Policy instance, "
                f"got {safe_repr(policy)}."
            )
        return self.preset.policy_spec(policy)

    def references(self, baselines: Sequence[str | Spec], against: Any) -> References:
        """Return the *baselines*, and *against* as the reference of relative values; None for none."""
        return References(
            tuple(map(self.policy, baselines)), () if against is None else (self.policy(against),)
        )

    def _trace(self) -> Spec | Workload:
        if isinstance(self.trace, Workload):
            return self.trace
        spec = self.preset.trace_spec(self.trace)
        return spec if self.clients is None else spec.with_("clients", self.clients)


def _build_topology(table: Mapping[str, Any], values: Mapping[str, Any]) -> Topology:
    """Return the topology of a dictionary with its ``extends`` and ``stations``, and these *values*."""
    topology = load_topology(table.get("extends", "three-node"), values, "topology", table.get("stations"))
    return replace(topology, name="dict")


def _keys(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the topology keys of a dictionary, dotted."""
    own_keys = {str(key): value for key, value in table.items() if key not in ("extends", "stations")}
    valid_keys = topology_keys()
    for key in own_keys:
        if not any(valid == key or valid.startswith(f"{key}.") for valid in valid_keys):
            raise InputError(f"topology: {unknown_key_error(key)}")
    return flatten(own_keys)
