"""Python interface: ``psm_sim.simulate`` for one policy and ``psm_sim.compare`` for several."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, describe_error, did_you_mean, safe_repr
from psm_sim.common.formatting import flatten
from psm_sim.common.parameters import Parameter
from psm_sim.network import Observer, Topology, load_topology
from psm_sim.network.chip_profiles import battery_settings, load_profile
from psm_sim.network.topology import check_effects, topology_keys, unknown_key_error
from psm_sim.policies import Policy
from psm_sim.policies.factory import with_loss
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
    **more: Unpack[Options],
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
        dotted. The key ``extends`` names the topology that they change (default: ``three-node``), and
        ``stations`` is a list of dictionaries, one for each group of stations.
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
        topology), ``battery`` (capacity such as ``"2000mAh"``), ``loss`` (loss of an lpsm policy) and
        ``clients`` (clients of a recording).

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
    arguments = _arguments_of(simulate, trace, topology, pages, seed, settings, workers, more)
    scenario = arguments.scenario()
    stations = scenario.resolve_unseeded_topology().stations
    if len(stations) > 1:
        names = ", ".join(station.name for station in stations)
        raise InputError(
            f"topology {scenario.topology_name} has different stations ({names}), and simulate returns one"
            " result; use compare, which returns one for each of them."
        )
    comparison = compare_seeds(
        arguments.policies([policy]),
        scenario,
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
    **more: Unpack[Options],
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
    arguments = _arguments_of(compare, trace, topology, pages, seed, settings, workers, more)
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


class Options(TypedDict, total=False):
    """Further keyword arguments of :func:`psm_sim.simulate` and :func:`psm_sim.compare`."""

    preset: str | None
    loss: str | None
    clients: str | int | None
    profile: str
    battery: str | None


_WORKERS = Parameter("workers", None, at_least=1, at_most=1024, optional=True, kind=int)
_SYNONYMS = {"seeds": "replications", "runs": "replications", "jobs": "workers", "chip": "profile"}


def _arguments_of(
    function: Callable[..., Any],
    trace: Any,
    topology: Any,
    pages: int,
    seed: int,
    settings: Any,
    workers: int | None,
    more: Options,
) -> SimulationArguments:
    """Return the arguments of *function*; reject unknown names in *more*, and invalid *workers*."""
    names = list(inspect.signature(function).parameters)[:-1] + list(Options.__annotations__)
    for name in more:
        if name not in Options.__annotations__:
            meant = _SYNONYMS.get(name)
            hint = f" Did you mean {meant!r}?" if meant else did_you_mean(name, names)
            raise InputError(f"Unknown argument {name!r}; expected one of {', '.join(names)}.{hint}")
    _WORKERS.check(workers, function.__name__)
    return SimulationArguments(trace, topology, pages, seed, settings, **more)


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
    battery: str | None = None

    def scenario(self) -> Scenario:
        """Return the scenario. Errors are as for :func:`psm_sim.simulate`."""
        scenario = self._scenario()
        own = _keys(self.topology) if isinstance(self.topology, Mapping) else {}
        check_effects(scenario.resolve_unseeded_topology(), [*own, *(self.settings or {})], "settings")
        return scenario

    def _scenario(self) -> Scenario:
        settings = {**self._preset.settings, **battery_settings(self.battery), **(self.settings or {})}
        topology, profile = self.topology, self.profile
        if isinstance(topology, Mapping):
            chip = load_profile(profile).values if profile else {}
            topology, settings, profile = _build_topology(topology, {**chip, **settings}), {}, ""
        elif not isinstance(topology, (str, Topology)):
            raise InputError(
                "topology must be a name, a .toml file, a dictionary of keys or a Topology, "
                f"got {safe_repr(topology)}."
            )
        return Scenario(self._trace(), topology, self.pages, self.seed, settings, profile)

    def policies(self, policies: Sequence[Any]) -> list[PolicyLike]:
        """Convert a list of policies. Specs get the preset's parameters and the loss."""
        if isinstance(policies, (str, Spec, Policy, type)) or not isinstance(policies, Sequence):
            raise InputError(f"policies must be a non-empty list, got {safe_repr(policies)}.")
        return [self.policy(policy) for policy in with_loss(policies, self.loss)]

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


def _build_topology(keys: Mapping[str, Any], settings: Mapping[str, Any]) -> Topology:
    """Return the topology of a dictionary of nested or dotted keys, with *settings* over them."""
    merged = {**_keys(keys), **settings}
    topology = load_topology(keys.get("extends", "three-node"), merged, "topology", keys.get("stations"))
    return replace(topology, name="dict")


def _keys(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the topology keys of a dictionary, dotted."""
    own_keys = {str(key): value for key, value in table.items() if key not in ("extends", "stations")}
    valid_keys = topology_keys()
    for key in own_keys:
        if not any(valid == key or valid.startswith(f"{key}.") for valid in valid_keys):
            raise InputError(f"topology: {unknown_key_error(key)}")
    return flatten(own_keys)
