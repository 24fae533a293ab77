"""Simulations from Python: ``psm_sim.simulate`` for one policy, ``psm_sim.compare`` for several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from psm_sim.network import Topology
from psm_sim.policies import Policy
from psm_sim.simulation.compare import compare_runs
from psm_sim.simulation.result import Result
from psm_sim.simulation.scenario import Scenario
from psm_sim.spec import Spec
from psm_sim.workload import Workload

if TYPE_CHECKING:
    import pandas as pd


def simulate(
    policy: str | Spec | Policy = "lpsm",
    trace: str | Spec | Workload = "ucb",
    topology: str | Topology = "three-node",
    pages: int = 100,
    seed: int = 1,
    settings: Mapping[str, Any] | None = None,
    profile: str = "",
) -> Result:
    """Run one policy, its slowdown measured against the same pages without power saving.

    Parameters
    ----------
    policy
        A name with its parameters (``"bsd:p=0.5"``) or ``FILE.py:CLASS``, as text or spec; or a policy
        already made, which is copied.
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
        A chip whose keys are laid over the topology, as ``"esp32-c6"``; empty for none.

    Raises
    ------
    InputError
        If any of these cannot be used, or the trace chooses several clients; before anything is run.
    """
    return compare_runs([policy], Scenario(trace, topology, pages, seed, settings or {}, profile)).runs[0]


def compare(
    policies: Sequence[str | Spec | Policy],
    trace: str | Spec | Workload = "ucb",
    topology: str | Topology = "three-node",
    pages: int = 100,
    seed: int = 1,
    settings: Mapping[str, Any] | None = None,
    profile: str = "",
) -> pd.DataFrame:
    """Run several policies over the same pages.

    Parameters
    ----------
    policies
        At least one, each as for :func:`simulate`.
    trace, topology, pages, seed, settings, profile
        As for :func:`simulate`.

    Returns
    -------
    DataFrame
        One row per policy, columns as the JSON output's; nested values become columns joined by a dot,
        such as ``slowdown.mean``.

    Raises
    ------
    InputError
        As :func:`simulate`.
    """
    import pandas as pd

    comparison = compare_runs(policies, Scenario(trace, topology, pages, seed, settings or {}, profile))
    return pd.json_normalize([_row(run) for run in comparison.runs])


def _row(run: Result) -> dict[str, Any]:
    row = run.to_dict()
    return {**row, "parameters": ",".join(f"{key}={value}" for key, value in row["parameters"].items())}
