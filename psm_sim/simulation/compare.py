"""Policies side by side, over the same pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psm_sim.errors import InputError
from psm_sim.network import Topology, load_topology
from psm_sim.policies import Policy, make_policy
from psm_sim.policies.always_on import AlwaysOn
from psm_sim.policies.guard import guarded
from psm_sim.progress import Progress
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import page_times_s, run_policy
from psm_sim.workload import Workload, load_workload

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Comparison:
    """Several runs over the same pages, in the order the policies were given.

    ``always_on`` is the run without power saving that every slowdown is measured against; ``scenario``
    has every key of the topology with the value used.
    """

    trace: str
    topology: str
    scenario: dict[str, Any]
    pages: int
    seed: int
    workload: Workload
    settings: dict[str, Any]
    runs: tuple[Result, ...]
    always_on: Result


def compare_runs(
    policies: Sequence[str | Policy],
    trace: str | Workload = "ucb",
    topology: str | Topology = "three-node",
    pages: int = 100,
    seed: int = 1,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Run each policy, and one without power saving, over the same pages.

    Parameters
    ----------
    policies
        Names with their parameters (``"bsd:p=0.5"``), ``FILE.py:CLASS``, or policies already made.
    trace
        A bundled trace, a file, or a workload already made.
    topology, settings
        A bundled topology, a TOML file, or a topology; and keys of it to override.
    pages, seed
        How many pages, and the seed of everything drawn.
    progress
        Called after each page.

    Raises
    ------
    InputError
        If any of these cannot be used; before anything is run.
    """
    _check_counts(policies, pages, seed)
    made = [make_policy(policy) for policy in policies]
    labels = [policy if isinstance(policy, str) else policy.name for policy in policies]
    place = _place(topology, settings)
    workload = trace if isinstance(trace, Workload) else load_workload(trace, pages, seed)
    for policy in made:
        guarded(policy).start(place.beacon.interval_ms / 1000)
    reference, *runs = _run_all(labels, made, place, workload, progress)
    return Comparison(
        trace if isinstance(trace, str) else workload.name,
        topology if isinstance(topology, str) else topology.name,
        place.config(),
        len(workload.pages),
        seed,
        workload,
        dict(settings or {}),
        tuple(runs),
        reference,
    )


def _run_all(
    labels: Sequence[str],
    policies: Sequence[Policy],
    topology: Topology,
    workload: Workload,
    progress: Progress | None,
) -> list[Result]:
    """Return the run without power saving, then that of each policy."""
    total = len(workload.pages) * (1 + sum(not isinstance(policy, AlwaysOn) for policy in policies))
    done = 0

    def run(label: str, policy: Policy, times_s: Sequence[float] | None) -> Result:
        nonlocal done
        before = done

        def page_done(count: int) -> None:
            if progress is not None:
                progress(before + count, total, label)

        result = run_policy(label, policy, topology, workload.pages, times_s, page_done)
        done += len(workload.pages)
        return result

    reference = run("always-on", AlwaysOn(), None)
    times_s = page_times_s(reference)
    return [
        reference,
        *(
            reference if isinstance(policy, AlwaysOn) else run(label, policy, times_s)
            for label, policy in zip(labels, policies, strict=True)
        ),
    ]


def simulate(
    policy: str | Policy = "lpsm",
    trace: str | Workload = "ucb",
    topology: str | Topology = "three-node",
    pages: int = 100,
    seed: int = 1,
    settings: Mapping[str, Any] | None = None,
) -> Result:
    """Run one policy; arguments as :func:`compare_runs`, slowdown against the same pages without it."""
    return compare_runs([policy], trace, topology, pages, seed, settings).runs[0]


def compare(
    policies: Sequence[str | Policy],
    trace: str | Workload = "ucb",
    topology: str | Topology = "three-node",
    pages: int = 100,
    seed: int = 1,
    settings: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Run several policies over the same pages; return a row a policy, columns as the JSON output's.

    Nested values become columns joined by a dot, such as ``slowdown.mean``.
    """
    import pandas as pd

    comparison = compare_runs(policies, trace, topology, pages, seed, settings)
    return pd.json_normalize([_row(run) for run in comparison.runs])


def _row(run: Result) -> dict[str, Any]:
    row = run.to_dict()
    return {**row, "parameters": ",".join(f"{key}={value}" for key, value in row["parameters"].items())}


def _place(topology: str | Topology, settings: Mapping[str, Any] | None) -> Topology:
    if not isinstance(topology, Topology):
        return load_topology(topology, settings)
    if settings:
        raise InputError(f"settings is {dict(settings)!r} beside a Topology made already; set them in it.")
    return topology


def _check_counts(policies: Sequence[str | Policy], pages: int, seed: int) -> None:
    if not policies or isinstance(policies, str):
        raise InputError(f"policies is {policies!r}; expected a list of at least one policy.")
    for name, value, least in (("pages", pages, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise InputError(f"{name} is {value!r}; expected a whole number of at least {least}.")
