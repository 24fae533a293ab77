"""Arguments of the Python functions: classes, DataFrames and dictionaries become what a run is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from psm_sim.component_spec import Spec
from psm_sim.errors import InputError, describe_error, safe_repr
from psm_sim.formatting import flatten
from psm_sim.network import Topology, load_topology
from psm_sim.network.chip_profiles import load_profile
from psm_sim.network.topology import topology_keys
from psm_sim.policies import Policy
from psm_sim.registry import unknown_name_error
from psm_sim.simulation.preset import Preset, load_preset
from psm_sim.simulation.references import PolicyLike
from psm_sim.simulation.scenario import Scenario
from psm_sim.workload.python_workloads import as_workload


@dataclass(frozen=True)
class SimulationArguments:
    """What :func:`psm_sim.simulate` and :func:`psm_sim.compare` are given, as they document it."""

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
        """Return the scenario; errors as :func:`psm_sim.simulate`."""
        settings = {**self._preset.settings, **(self.settings or {})}
        topology = as_topology(self.topology)
        profile = self.profile
        if isinstance(self.topology, Mapping) and (settings or profile):
            chip = load_profile(profile).values if profile else {}
            topology, settings, profile = _build_topology(self.topology, {**chip, **settings}), {}, ""
        return Scenario(self._trace(), topology, self.pages, self.seed, settings, profile)

    def policies(self, given: Sequence[Any]) -> list[PolicyLike]:
        """Return the policies, with the preset's parameters and the loss where they are named by text."""
        if isinstance(given, (str, Spec, Policy, type)) or not isinstance(given, Sequence):
            raise InputError(f"policies is {safe_repr(given)}; expected a list of at least one policy.")
        made = [self.policy(each) for each in given]
        takers = [each for each in made if isinstance(each, Spec) and each.name == "lpsm"]
        if self.loss is not None and not takers:
            raise InputError(
                f"loss is {self.loss!r}, but no lpsm is given to use it; add 'lpsm' or drop loss."
            )
        return [_with_loss(each, self.loss) for each in made]

    def policy(self, given: Any) -> PolicyLike:
        """Return one policy: a spec, or one already made; a class is made without arguments."""
        if isinstance(given, type) and issubclass(given, Policy):
            try:
                return given()
            except Exception as error:
                raise InputError(
                    f"Policy class {given.__name__} cannot be made without arguments: "
                    f"{describe_error(error)}; give an instance."
                ) from error
        if isinstance(given, Policy):
            return given
        if not isinstance(given, (str, Spec)):
            raise InputError(
                f"policy is {safe_repr(given)}; expected a name, FILE.py:CLASS, a Policy class or an "
                "instance."
            )
        return self._preset.policy_spec(given)

    @property
    def _preset(self) -> Preset:
        return Preset() if self.preset is None else load_preset(self.preset)

    def _trace(self) -> Any:
        if not isinstance(self.trace, (str, Spec)):
            return as_workload(self.trace)
        spec = self._preset.trace_spec(self.trace)
        return spec if self.clients is None else spec.with_("clients", self.clients)


def as_topology(given: Any) -> str | Topology:
    """Return a topology's name, or the topology that a dictionary of its keys is.

    The dictionary is nested or has dotted keys; ``extends`` names the topology that it changes.

    Raises
    ------
    InputError
        If it is neither a text, a dictionary nor a topology, or a key or value cannot be used.
    """
    if isinstance(given, (str, Topology)):
        return given
    if not isinstance(given, Mapping):
        raise InputError(
            f"topology is {safe_repr(given)}; expected a name, a .toml file, a dictionary of keys or "
            "a Topology."
        )
    return _build_topology(given, {})


def _build_topology(given: Mapping[str, Any], settings: Mapping[str, Any]) -> Topology:
    own = {str(key): value for key, value in given.items() if key != "extends"}
    known = topology_keys()
    for key in own:
        if not any(each == key or each.startswith(f"{key}.") for each in known):
            raise InputError(f"topology: {unknown_name_error('topology key', key, known)}")
    keys = {**flatten(own), **settings}
    topology = load_topology(given.get("extends", "three-node"), keys, "topology")
    return replace(topology, name="dict")


def _with_loss(policy: PolicyLike, loss: str | None) -> PolicyLike:
    takes = isinstance(policy, Spec) and policy.name == "lpsm" and "loss" not in policy.values
    return policy.with_("loss", loss) if takes and loss is not None and isinstance(policy, Spec) else policy
