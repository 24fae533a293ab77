"""Python interface: ``psm_sim.simulate`` for one policy and ``psm_sim.compare`` for several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, safe_repr
from psm_sim.network import Observer, Topology
from psm_sim.policies import Policy
from psm_sim.simulation.comparison import BASELINES, Comparison
from psm_sim.simulation.policy_comparison import run_comparison
from psm_sim.simulation.preset import RunArguments
from psm_sim.simulation.recorder import observe
from psm_sim.simulation.result import Result
from psm_sim.simulation.run_outputs import RunOutputs
from psm_sim.workload import Page, Workload

if TYPE_CHECKING:
    import pandas as pd


def simulate(
    policy: str | Spec | Policy | type[Policy] = "lpsm",
    trace: str | Path | Spec | Sequence[Page] | pd.DataFrame | Workload | None = None,
    topology: str | Path | Mapping[str, Any] | Topology | None = None,
    pages: int = 100,
    seed: int = 1,
    settings: Mapping[str, Any] | None = None,
    *,
    preset: str | Path | None = None,
    profile: str | Path | None = None,
    battery: str | None = None,
    loss: str | None = None,
    clients: str | int | None = None,
    observers: Sequence[Observer] = (),
    replications: int = 1,
    workers: int | None = None,
    capture: str | Path | None = None,
    timeline: str | Path | None = None,
) -> Result:
    """Simulate one policy, and measure its slowdown against the same pages without power saving.

    Parameters
    ----------
    policy : str, Spec, Policy or type
        Name with optional parameters (``"bsd:p=0.5"``), ``FILE.py:CLASS``, policy class or policy
        instance. Each run uses a new instance of a class, or a copy of an instance. ``result.policy_state``
        is the policy after the run.
    trace : str, Path, Spec, list of Page, DataFrame or Workload, optional
        Bundled trace or file, list of :class:`~psm_sim.workload.Page`, DataFrame with the columns of a
        page list, or workload. None selects the trace of the preset, or ``ucb`` without a preset.
    topology : str, Path, dict or Topology, optional
        Bundled topology, TOML file, dictionary of topology keys, or topology. A dictionary changes keys of
        the topology that its key ``extends`` names (default: ``three-node``). Its keys are nested or dotted,
        such as ``links.wired.latency_ms``. ``stations`` is a list with a dictionary for each group of
        stations. None selects ``three-node``, and with a *profile* also the keys of
        :func:`~psm_sim.simulation.preset.present_network`.
    pages : int
        Number of pages, at least 1. A recording is limited to its first *pages* pages.
    seed : int
        Seed of all random values, at least 0.
    settings : mapping of str to object, optional
        Topology keys to override, such as ``{"links.wired.latency_ms": 80}``. Values may be strings.
    preset : str or Path, optional
        Name or file of a preset, which has parameters of the trace, the policies and the topology.
    profile : str or Path, optional
        Chip such as ``"esp32-c6"``, or a file, whose measured values are applied to the topology.
    battery : str, optional
        Capacity such as ``"2000mAh"``, which adds the battery life to the result.
    loss : str, optional
        Loss of the ``lpsm`` policy: a name, a formula or ``FILE.py:CLASS``.
    clients : str or int, optional
        Clients of the recording to simulate, such as ``10`` or ``"all"``.
    observers : sequence of Observer
        Observers of the run. Only supported for a single run.
    replications : int
        Number of consecutive seeds, beginning with *seed*. With several seeds, the values are means over the
        seeds.
    workers : int or None
        Number of processes for several seeds or clients; None uses all cores. The results do not depend on
        this number.
    capture, timeline : str, Path or None
        Files to write: a ``.pcap`` packet capture and a ``.json`` timeline for Perfetto. Only supported for a
        single run.

    Returns
    -------
    Result
        Energy, page times and slowdown of the run.

    Raises
    ------
    InputError
        If an argument is invalid; raised before any simulation starts.

    Examples
    --------
    >>> import psm_sim
    >>> result = psm_sim.simulate("psm", pages=5)
    >>> len(result.pages)
    5
    """
    arguments = RunArguments(trace, topology, pages, seed, settings, preset, profile, battery, loss, clients)
    given: object = observers
    if not isinstance(given, Sequence) or not all(isinstance(observer, Observer) for observer in given):
        raise InputError(f"observers must be a list of Observer, got {safe_repr(observers)}.")
    scenario = arguments.scenario()
    stations = scenario.resolve_unseeded_topology().stations
    if len(stations) > 1:
        names = ", ".join(station.name for station in stations)
        raise InputError(
            f"topology {scenario.topology_name} has different stations ({names}), and simulate returns one"
            " result; use compare, which returns a result for each."
        )
    comparison = run_comparison(
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
    policies: Sequence[str | Spec | Policy | type[Policy]],
    trace: str | Path | Spec | Sequence[Page] | pd.DataFrame | Workload | None = None,
    topology: str | Path | Mapping[str, Any] | Topology | None = None,
    pages: int = 100,
    seed: int = 1,
    settings: Mapping[str, Any] | None = None,
    *,
    preset: str | Path | None = None,
    profile: str | Path | None = None,
    battery: str | None = None,
    loss: str | None = None,
    clients: str | int | None = None,
    replications: int = 1,
    workers: int | None = None,
    against: str | Spec | Policy | type[Policy] | None = "psm",
    baselines: bool = True,
    capture: str | Path | None = None,
    timeline: str | Path | None = None,
) -> Comparison:
    """Simulate several policies on the same pages.

    Parameters
    ----------
    policies : sequence of str, Spec, Policy or type
        At least one policy, see :func:`simulate`.
    trace, topology, pages, seed, settings, preset, profile, battery, loss, clients, replications, workers
        See :func:`simulate`.
    against : str, Spec, Policy, type or None
        Reference policy for relative energy and slowdown; None disables the reference.
    baselines : bool
        Whether to run the baselines always-on and psm as well.
    capture, timeline : str, Path or None
        See :func:`simulate`. Each of several policies has its own file: ``run.pcap`` becomes
        ``run-bsd.pcap`` for ``bsd``.

    Returns
    -------
    Comparison
        Results of all policies. Print the object to show a table. See its attributes ``runs`` and ``frame``,
        and its method ``plot()``.

    Raises
    ------
    InputError
        See :func:`simulate`.

    Examples
    --------
    >>> import psm_sim
    >>> comparison = psm_sim.compare(["bsd", "lpsm"], pages=5)
    >>> list(comparison.frame["policy"])
    ['always-on', 'psm', 'bsd', 'lpsm']
    """
    arguments = RunArguments(trace, topology, pages, seed, settings, preset, profile, battery, loss, clients)
    return run_comparison(
        arguments.policies(policies),
        arguments.scenario(),
        replications,
        workers=workers,
        references=arguments.references(BASELINES if baselines else (), against),
        outputs=RunOutputs.of(capture, timeline),
    )
