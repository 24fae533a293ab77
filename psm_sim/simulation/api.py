"""Python interface: ``psm_sim.simulate`` for one policy and ``psm_sim.compare`` for several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, describe_error, safe_repr
from psm_sim.common.formatting import flatten
from psm_sim.common.registry import unknown_name_error
from psm_sim.network import Observer, Topology, load_topology
from psm_sim.network.chip_profiles import load_profile
from psm_sim.network.topology import topology_keys
from psm_sim.policies import Policy
from psm_sim.simulation.comparison import BASELINES, Comparison, References
from psm_sim.simulation.policy_comparison import compare_seeds
from psm_sim.simulation.preset import Preset, load_preset
from psm_sim.simulation.result import Result
from psm_sim.simulation.result_parts import PolicyLike
from psm_sim.simulation.run_outputs import RunOutputs
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.timeline import observe
from psm_sim.workload.page_list import as_workload


def simulate(
    policy: Any = "lpsm",
    trace: Any = "ucb",
    topology: Any = "three-node",
    pages: int = 100,
    seed: int = 1,
    settings: Any = None,
    *,
    observers: Sequence[Observer] = (),
    replications: int = 1,
    workers: int | None = None,
    capture: str | Path | None = None,
    timeline: str | Path | None = None,
    **more: Any,
) -> Result:
    """Simulate one policy, and measure its slowdown against the same pages without power saving.

    Parameters
    ----------
    policy : str, Spec, Policy or type
        Name with optional parameters (``"bsd:p=0.5"``), ``FILE.py:CLASS``, policy class or policy
        instance. An instance is copied. The copy is available as ``result.policy_state`` after the run.
    trace : str, Spec, list of Page, DataFrame or Workload
        Bundled trace or file, list of :class:`~psm_sim.workload.Page`, DataFrame with the columns of a
        page list, or workload.
    topology : str, dict or Topology
        Bundled topology, TOML file, dictionary of topology keys, or topology. The keys are nested or
        dotted. The key ``extends`` names the topology that they change (default: ``three-node``).
    pages : int
        Number of pages, at least 1. A recording is limited to its first *pages* pages.
    seed : int
        Seed of all random values, at least 0.
    settings : mapping of str to object, optional
        Topology keys to override, such as ``{"links.wired.latency_ms": 80}``. Values may be strings.
    observers : sequence of Observer
        Observers of the run. Only supported for a single run.
    replications : int
        Number of consecutive seeds, beginning with *seed*. With more than one, the result is a
        ``SeedAverage``, whose values are means over the seeds.
    workers : int or None
        Number of processes for several seeds or clients; None uses all cores. The numbers do not depend
        on it.
    capture, timeline : str, Path or None
        Files to write during the run, FILE.pcap and FILE.json. Only supported for a single run.
    **more
        ``preset`` (named configuration), ``profile`` (chip such as ``"esp32-c6"``, applied to the
        topology), ``loss`` (loss of an lpsm policy) and ``clients`` (clients of a recording).

    Returns
    -------
    Result
        Energy, page times and slowdown of the run.

    Raises
    ------
    InputError
        If an argument is invalid. No simulation has started then.

    Examples
    --------
    >>> import psm_sim
    >>> result = psm_sim.simulate("psm", pages=5)
    >>> len(result.page_records)
    5
    """
    arguments = SimulationArguments(trace, topology, pages, seed, settings, **more)
    comparison = compare_seeds(
        arguments.policies([policy]),
        arguments.scenario(),
        replications,
        workers=workers,
        outputs=RunOutputs.of(capture, timeline),
    )
    if observers:
        observe(comparison.runs[0], observers)
    return comparison.runs[0]


def compare(
    policies: Sequence[Any],
    trace: Any = "ucb",
    topology: Any = "three-node",
    pages: int = 100,
    seed: int = 1,
    settings: Any = None,
    *,
    replications: int = 1,
    workers: int | None = None,
    against: Any = "psm",
    baselines: bool = True,
    capture: str | Path | None = None,
    timeline: str | Path | None = None,
    **more: Any,
) -> Comparison:
    """Simulate several policies on the same pages.

    Parameters
    ----------
    policies : sequence of str, Spec, Policy or type
        At least one policy, each as for :func:`simulate`.
    trace, topology, pages, seed, settings, replications, workers, **more
        As for :func:`simulate`.
    against : str, Spec, Policy, type or None
        Reference policy for relative energy and slowdown; None disables the reference.
    baselines : bool
        Whether to run the baselines always-on and psm as well.
    capture, timeline : str, Path or None
        As for :func:`simulate`. With several policies, each one writes its own ``FILE-POLICY``.

    Returns
    -------
    Comparison
        The results. Printing it shows the table of the command line, ``.frame`` is a DataFrame,
        ``.runs`` are the results, and ``.plot()`` returns a figure.

    Raises
    ------
    InputError
        As for :func:`simulate`.

    Examples
    --------
    >>> import psm_sim
    >>> comparison = psm_sim.compare(["bsd", "lpsm"], pages=5)
    >>> list(comparison.frame["policy"])
    ['always-on', 'psm', 'bsd', 'lpsm']
    """
    arguments = SimulationArguments(trace, topology, pages, seed, settings, **more)
    shown = tuple(arguments.policy(baseline) for baseline in BASELINES) if baselines else ()
    reference = () if against is None else (arguments.policy(against),)
    return compare_seeds(
        arguments.policies(policies),
        arguments.scenario(),
        replications,
        workers=workers,
        references=References(shown, reference),
        outputs=RunOutputs.of(capture, timeline),
    )


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
        topology = _as_topology(self.topology)
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


def _as_topology(topology: Any) -> str | Topology:
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
