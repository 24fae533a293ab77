"""Simulations from Python: ``psm_sim.simulate`` for one policy, ``psm_sim.compare`` for several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from psm_sim.network import Observer
from psm_sim.progress import no_progress
from psm_sim.simulation.api_arguments import SimulationArguments
from psm_sim.simulation.compare_policies import compare_clients
from psm_sim.simulation.comparison import Comparison
from psm_sim.simulation.references import BASELINES, References
from psm_sim.simulation.replications import compare_seeds
from psm_sim.simulation.result import Result
from psm_sim.simulation.run_outputs import RunOutputs
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
    """Run one policy, its slowdown measured against the same pages without power saving.

    Parameters
    ----------
    policy
        A name with its parameters (``"bsd:p=0.5"``) or ``FILE.py:CLASS``, as text or spec; a policy class, or
        a policy already made, which is copied: ``result.policy_state`` is the copy as the run has left it.
    trace
        A bundled trace or a file, as text or spec; a list of :class:`~psm_sim.workload.Page`, a DataFrame
        with the columns of a page list, or a workload.
    topology
        A bundled topology or a TOML file; a dictionary of its keys, nested or dotted, in which ``extends``
        names another topology than ``three-node``; or a topology already made.
    pages
        The number of pages, at least 1; a recording gives its first *pages*, or all it has.
    seed
        The seed of everything drawn, 0 or more.
    settings
        Topology keys to override, as ``{"links.wired.latency_ms": 80}``; values or their texts.
    observers
        Told what happens in the run; of a single run only.
    replications
        The number of seeds, from *seed* on; the values are then means, and the result a ``SeedAverage``.
    workers
        Processes for several seeds or clients; None: one for each core. The numbers do not depend on it.
    capture, timeline
        Files to write while it runs, FILE.pcap and FILE.json; of a single run only.
    more
        ``preset``, a named configuration; ``profile``, a chip such as ``"esp32-c6"``, laid over the topology;
        ``loss`` of an lpsm; ``clients`` of a recording.

    Raises
    ------
    InputError
        If any of these cannot be used; before anything is run.
    """
    arguments = SimulationArguments(trace, topology, pages, seed, settings, **more)
    found = _compared(
        arguments, [policy], replications, workers, References(), RunOutputs.of(capture, timeline)
    )
    if observers:
        observe(found.runs[0], observers)
    return found.runs[0]


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
    """Run several policies over the same pages.

    It prints as the command line's table; ``.frame`` is a DataFrame, ``.plot()`` a figure, ``.runs`` are the
    results.

    Parameters
    ----------
    policies
        At least one, each as for :func:`simulate`.
    trace, topology, pages, seed, settings, replications, workers, more
        As for :func:`simulate`.
    against
        The policy that energy and slowdown are compared with; None for none.
    baselines
        Whether always-on and psm stand above the policies.
    capture, timeline
        As for :func:`simulate`; of several policies each has its own, ``FILE-POLICY``.

    Raises
    ------
    InputError
        As :func:`simulate`.
    """
    arguments = SimulationArguments(trace, topology, pages, seed, settings, **more)
    shown = tuple(arguments.policy(baseline) for baseline in BASELINES) if baselines else ()
    reference = () if against is None else (arguments.policy(against),)
    outputs = RunOutputs.of(capture, timeline)
    return _compared(arguments, policies, replications, workers, References(shown, reference), outputs)


def _compared(
    arguments: SimulationArguments,
    policies: Sequence[Any],
    replications: int,
    workers: int | None,
    references: References,
    outputs: RunOutputs,
) -> Comparison:
    asked, scenario = arguments.policies(policies), arguments.scenario()
    if replications == 1:
        return compare_clients(asked, scenario, no_progress, workers, references, outputs)
    outputs.refuse(f"{replications} replications")
    return compare_seeds(asked, scenario, replications, no_progress, workers, references)
