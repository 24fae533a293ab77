"""Conversion of the arguments of ``psm_sim.simulate`` and ``psm_sim.compare``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, describe_error, safe_repr
from psm_sim.common.formatting import flatten
from psm_sim.common.registry import unknown_name_error
from psm_sim.network import Topology, load_topology
from psm_sim.network.chip_profiles import load_profile
from psm_sim.network.topology import topology_keys
from psm_sim.policies import Policy
from psm_sim.simulation.preset import Preset, load_preset
from psm_sim.simulation.reference_policies import PolicyLike
from psm_sim.simulation.scenario import Scenario
from psm_sim.workload.python_workloads import as_workload


@dataclass(frozen=True)
class SimulationArguments:
    """Arguments of :func:`psm_sim.simulate` and :func:`psm_sim.compare`, as documented there."""

    trace: Any = "ucb"
    topology: Any = "three-node"
    pages: int = 100
    seed: int = 1
    settings: Mapping[str, Any] | None = None
    preset: str | None = None
    loss: str | None = None
    clients: str | int | None = None
    profile: str = ""

    def scenario(self) -> Scenario:
        """Return the scenario. Errors are as for :func:`psm_sim.simulate`."""
        settings = {**self._preset.settings, **(self.settings or {})}
        topology = as_topology(self.topology)
        profile = self.profile
        if isinstance(self.topology, Mapping) and (settings or profile):
            chip = load_profile(profile).values if profile else {}
            topology, settings, profile = _build_topology(self.topology, {**chip, **settings}), {}, ""
        return Scenario(self._trace(), topology, self.pages, self.seed, settings, profile)

    def policies(self, policies: Sequence[Any]) -> list[PolicyLike]:
        """Convert a list of policies. Specs get the preset's parameters and the loss."""
        if isinstance(policies, (str, Spec, Policy, type)) or not isinstance(policies, Sequence):
            raise InputError(f"policies must be a non-empty list, got {safe_repr(policies)}.")
        converted = [self.policy(policy) for policy in policies]
        lpsm_specs = [policy for policy in converted if isinstance(policy, Spec) and policy.name == "lpsm"]
        if self.loss is not None and not lpsm_specs:
            raise InputError(
                f"loss={self.loss!r} has no effect without an lpsm policy; add 'lpsm' or remove loss."
            )
        return [_with_loss(policy, self.loss) for policy in converted]

    def policy(self, policy: Any) -> PolicyLike:
        """Convert a policy to a spec or an instance. A class is instantiated without arguments."""
        if isinstance(policy, type) and issubclass(policy, Policy):
            try:
                return policy()
            except Exception as error:
                raise InputError(
                    f"Policy class {policy.__name__} cannot be instantiated without arguments: "
                    f"{describe_error(error)}; pass an instance."
                ) from error
        if isinstance(policy, Policy):
            return policy
        if not isinstance(policy, (str, Spec)):
            raise InputError(
                "policy must be a name, FILE.py:CLASS, a Policy class or a Policy instance, "
                f"got {safe_repr(policy)}."
            )
        return self._preset.policy_spec(policy)

    @property
    def _preset(self) -> Preset:
        return Preset() if self.preset is None else load_preset(self.preset)

    def _trace(self) -> Any:
        if not isinstance(self.trace, (str, Spec)):
            return as_workload(self.trace)
        spec = self._preset.trace_spec(self.trace)
        return spec if self.clients is None else spec.with_("clients", self.clients)


def as_topology(topology: Any) -> str | Topology:
    """Convert a dictionary of topology keys to a topology. Return a name or a topology unchanged.

    The keys are nested or dotted. The key ``extends`` names the topology that they change.

    Raises
    ------
    InputError
        If the type is wrong, or a key or value is invalid.
    """
    if isinstance(topology, (str, Topology)):
        return topology
    if not isinstance(topology, Mapping):
        raise InputError(
            "topology must be a name, a .toml file, a dictionary of keys or a Topology, "
            f"got {safe_repr(topology)}."
        )
    return _build_topology(topology, {})


def _build_topology(keys: Mapping[str, Any], settings: Mapping[str, Any]) -> Topology:
    own_keys = {str(key): value for key, value in keys.items() if key != "extends"}
    valid_keys = topology_keys()
    for key in own_keys:
        if not any(valid == key or valid.startswith(f"{key}.") for valid in valid_keys):
            raise InputError(f"topology: {unknown_name_error('topology key', key, valid_keys)}")
    merged = {**flatten(own_keys), **settings}
    topology = load_topology(keys.get("extends", "three-node"), merged, "topology")
    return replace(topology, name="dict")


def _with_loss(policy: PolicyLike, loss: str | None) -> PolicyLike:
    applies = isinstance(policy, Spec) and policy.name == "lpsm" and "loss" not in policy.values
    return policy.with_("loss", loss) if applies and loss is not None and isinstance(policy, Spec) else policy
