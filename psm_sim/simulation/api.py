"""Python interface: ``psm_sim.simulate`` for one policy and ``psm_sim.compare`` for several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from psm_sim.common.progress import no_progress
from psm_sim.network import Observer
from psm_sim.simulation.api_arguments import SimulationArguments
from psm_sim.simulation.compare_policies import compare_clients
from psm_sim.simulation.comparison import Comparison
from psm_sim.simulation.reference_policies import BASELINES, References
from psm_sim.simulation.result import Result
from psm_sim.simulation.run_outputs import RunOutputs
from psm_sim.simulation.seed_comparison import compare_seeds
from psm_sim.simulation.timeline import observe


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
    comparison = _compare(
        arguments, [policy], replications, workers, References(), RunOutputs.of(capture, timeline)
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
    outputs = RunOutputs.of(capture, timeline)
    return _compare(arguments, policies, replications, workers, References(shown, reference), outputs)


def _compare(
    arguments: SimulationArguments,
    policies: Sequence[Any],
    replications: int,
    workers: int | None,
    references: References,
    outputs: RunOutputs,
) -> Comparison:
    specs, scenario = arguments.policies(policies), arguments.scenario()
    if replications == 1:
        return compare_clients(specs, scenario, no_progress, workers, references, outputs)
    outputs.refuse(f"{replications} replications")
    return compare_seeds(specs, scenario, replications, no_progress, workers, references)
