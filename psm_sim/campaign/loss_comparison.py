"""Comparison of losses of LPSM: energy against slowdown over gamma.

Every loss is simulated on the same pages at several values of its ``gamma``, beside the baselines, Bounded
Slowdown and ``anticipate``. Each loss is also examined at its default ``gamma`` on the pages of the first
seed (:mod:`psm_sim.campaign.loss_examination`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from psm_sim.campaign.loss_examination import Examination, LossExaminer, examiner_of
from psm_sim.campaign.offline_pareto_frontier import ParetoCorner, pareto_frontier
from psm_sim.common.component_spec import Spec, class_file
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import values_of
from psm_sim.common.progress import Progress, no_progress
from psm_sim.common.run_many import run_many
from psm_sim.common.summary_stats import Interval, confidence_interval, significant_differences
from psm_sim.losses import LOSSES, make_loss
from psm_sim.simulation import BASELINES, Comparison, References, Result, Scenario, run_comparison
from psm_sim.simulation.verdict import Reason, saving_reason

if TYPE_CHECKING:
    import pandas as pd


GAMMA_FACTORS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)
"""Default values of gamma, relative to the default of the loss."""

OTHERS = (Spec("bsd"), Spec("anticipate"))
"""Policies that are shown beside the losses, in addition to the baselines."""


@dataclass(frozen=True)
class LossCurve:
    """Results of one loss.

    Attributes
    ----------
    name : str
        Name of the loss in tables and figures.
    gammas : tuple of float
        Values of gamma, ascending; a single nan if the loss has no gamma.
    default_gamma : float
        Default gamma or, if the user has set a price of delay, the gamma that implies it; nan if the loss has
        no gamma.
    runs : tuple of Result
        Result at each gamma.
    examination : Examination
        Examination at the default gamma.
    """

    name: str
    gammas: tuple[float, ...]
    default_gamma: float
    runs: tuple[Result, ...]
    examination: Examination

    @property
    def default_run(self) -> Result:
        """Result at the gamma that is closest to the default."""
        if len(self.runs) == 1:
            return self.runs[0]
        return self.runs[int(np.argmin(np.abs(np.log(np.array(self.gammas) / self.default_gamma))))]


class LossDifference(NamedTuple):
    """Difference between a loss and the first loss, paired by seed.

    Attributes
    ----------
    name : str
        Name of the loss.
    energy_percent, slowdown : Interval
        Differences from the first loss: energy, in percent of the first loss's energy, and slowdown.
    energy_differs, delay_differs : bool
        Whether the differences are significant, with Holm's correction for all pairs of losses.
    reason : Reason or None
        Radio state in which the loss with less energy saves most. Its ``value`` is that of this loss, and its
        ``other`` that of the first loss.
    """

    name: str
    energy_percent: Interval
    energy_differs: bool
    slowdown: Interval
    delay_differs: bool
    reason: Reason | None


@dataclass(frozen=True)
class LossComparison:
    """Comparison of losses, as returned by :func:`psm_sim.compare_losses`.

    Attributes
    ----------
    curves : tuple of LossCurve
        Results of each loss.
    comparison : Comparison
        Runs of the losses, the baselines and the other policies.
    frontier : tuple of ParetoCorner
        Energy and slowdown of the best known schedules.
    """

    curves: tuple[LossCurve, ...]
    comparison: Comparison
    frontier: tuple[ParetoCorner, ...]

    @property
    def others(self) -> tuple[Result, ...]:
        """Results of the policies without a loss, baselines first."""
        shown = {id(run) for curve in self.curves for run in curve.runs}
        return tuple(run for run in self.comparison.shown if id(run) not in shown)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """DataFrame with a row for each loss, gamma and seed, and a row for each other policy and seed.

        All rows of a seed have the same pages, so compare losses by their differences at each seed.
        """
        import pandas as pd

        runs = [
            (curve.name, gamma, run)
            for curve in self.curves
            for gamma, run in zip(curve.gammas, curve.runs, strict=True)
        ]
        runs += [("", nan, run) for run in self.others]
        return pd.DataFrame(
            {"loss": loss, "gamma": gamma, "policy": run.policy, "seed": seed}
            | {name: each[name] for name in _MEASURES}
            for loss, gamma, run in runs
            for seed, each in enumerate(run.replicates, self.comparison.scenario.seed)
        )

    def differences(self) -> list[LossDifference]:
        """Return how each further loss differs from the first one, all at their default gammas."""
        runs = [curve.default_run for curve in self.curves]
        energies, slowdowns = (
            np.array([[replicate[name] for replicate in run.replicates] for run in runs])
            for name in ("energy_per_page_j", "slowdown.mean")
        )
        energy_differs, delay_differs = significant_differences(energies), significant_differences(slowdowns)
        return [
            LossDifference(
                self.curves[index].name,
                confidence_interval(100 * (energies[index] - energies[0]) / energies[0].mean()),
                bool(energy_differs[0, index]),
                confidence_interval(slowdowns[index] - slowdowns[0]),
                bool(delay_differs[0, index]),
                _reason(runs[index], runs[0]),
            )
            for index in range(1, len(runs))
        ]


def _reason(run: Result, first: Result) -> Reason | None:
    """Return the radio state that explains the largest part of the energy difference of *run* and *first*."""
    if run.energy_per_page_j < first.energy_per_page_j:
        return saving_reason(run.row, first.row)
    reason = saving_reason(first.row, run.row)
    return None if reason is None else Reason(reason.state, reason.other, reason.value)


_MEASURES = ("energy_per_page_j", "page_time_s.mean", "slowdown.mean")


def compare_losses(
    losses: Sequence[str],
    trace: Any = "ucb",
    topology: Any = "three-node",
    pages: int = 100,
    seed: int = 1,
    settings: Mapping[str, Any] | None = None,
    *,
    gammas: Sequence[float] | None = None,
    price_w: float | None = None,
    replications: int = 5,
    workers: int | None = None,
) -> LossComparison:
    """Simulate LPSM with each loss at several values of gamma, and examine each loss.

    Parameters
    ----------
    losses : sequence of str
        Losses, at least one: names, formulas or ``FILE.py:CLASS``, with optional parameters.
    trace, topology, pages, seed, settings, workers
        See :func:`psm_sim.compare`. The trace must have page views of one client.
    gammas : sequence of float, optional
        Values of gamma. By default 1/16 to 16 times the default of each loss.
    price_w : float, optional
        Price of delay in watts, instead of *gammas*. Each loss is then simulated at 1/16 to 16 times the
        gamma at which it implies this price.
    replications : int
        Number of consecutive seeds, beginning with *seed*.

    Returns
    -------
    LossComparison
        The results. ``.frame`` has a row for each run.

    Raises
    ------
    InputError
        If an argument is invalid; raised before any simulation starts.
    """
    scenario = Scenario(trace, topology, pages, seed, dict(settings or {}))
    return simulate_losses(losses, scenario, gammas, price_w, replications, workers)


def simulate_losses(
    losses: Sequence[str],
    scenario: Scenario,
    gammas: Sequence[float] | None = None,
    price_w: float | None = None,
    replications: int = 5,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> LossComparison:
    """Simulate LPSM with each loss on the pages of *scenario*, as :func:`compare_losses`.

    *progress* is called after each seed. The scenario has one station, page views and no faults.
    """
    topology, workload = scenario.resolve_topology(), scenario.workload()
    if topology.stations:
        raise InputError(
            f"topology {topology.name} has several stations; losses are compared on one station."
        )
    if topology.can_fail:
        raise InputError(
            "losses are compared on pages that cannot fail; remove the faults and browser.max_page_s from the"
            " topology."
        )
    if not workload.has_pages:
        raise InputError(f"trace {scenario.trace_name} has no pages; losses are compared on page views.")
    if price_w is not None and gammas is not None:
        raise InputError("gamma and price both set gamma; give one of them.")
    grids = _gamma_grids(losses, gammas)
    examiner = examiner_of(topology, workload, workers)
    if price_w is not None:
        grids = {name: _at_price(name, grid, price_w, examiner) for name, grid in grids.items()}
    specs = {name: [_lpsm(loss, gamma) for gamma in values] for name, (loss, values, _) in grids.items()}
    policies = [*OTHERS, *(spec for group in specs.values() for spec in group)]
    comparison = run_comparison(
        policies, scenario, replications, progress, workers, References(BASELINES, BASELINES[-1:])
    )
    runs = {run.policy: run for run in comparison.runs}
    defaults = [(loss, None if np.isnan(default) else default) for loss, _, default in grids.values()]
    examinations = list(run_many(examiner.examine, defaults, workers))
    frontier = pareto_frontier(comparison.workloads, topology, workers)
    curves = [
        LossCurve(name, values, default, tuple(runs[str(spec)] for spec in specs[name]), examination)
        for (name, (_, values, default)), examination in zip(grids.items(), examinations, strict=True)
    ]
    return LossComparison(tuple(curves), comparison, tuple(frontier))


_Grid = tuple[str, tuple[float, ...], float]
"""A loss without its gamma, the values of gamma, and the default gamma."""


def _gamma_grids(losses: Sequence[str], gammas: Sequence[float] | None) -> Mapping[str, _Grid]:
    """Return the grid of each loss by its name."""
    if isinstance(losses, str) or not losses:
        raise InputError(f"losses must be a list of at least one loss, got {losses!r}.")
    grids: dict[str, _Grid] = {}
    for text in losses:
        default = values_of(make_loss(text)).get("gamma")
        spec = Spec.parse(text, "loss") if LOSSES.knows(text) else None
        loss = text
        if spec is not None:
            loss = str(Spec(spec.name, tuple(item for item in spec.items if item[0] != "gamma")))
        name = _short_name(loss)
        if name in grids:
            raise InputError(
                f"loss {name} is given twice; each loss is simulated at several values of gamma."
            )
        if default is None:
            if gammas is not None:
                raise InputError(f"gamma has no effect on loss {name}, which has no parameter gamma.")
            grids[name] = loss, (nan,), nan
        else:
            values = gammas if gammas is not None else [factor * default for factor in GAMMA_FACTORS]
            grids[name] = loss, tuple(sorted(set(values))), float(default)
    return grids


def _short_name(loss: str) -> str:
    """Return the name of a loss. A class in a file is named without its path."""
    spec = Spec.parse(loss, "loss") if LOSSES.knows(loss) else None
    path_and_class = class_file(spec.name) if spec is not None else None
    if spec is None or path_and_class is None:
        return loss
    return str(Spec(path_and_class[1], spec.items))


def _lpsm(loss: str, gamma: float) -> Spec:
    spec = Spec("lpsm").with_("loss", loss)
    return spec if np.isnan(gamma) else spec.with_("gamma", repr(float(gamma)))


def _at_price(name: str, grid: _Grid, price_w: float, examiner: LossExaminer) -> _Grid:
    """Return the grid with all gammas scaled so that the default gamma implies the price of delay."""
    loss, gammas, default = grid
    if np.isnan(default):
        raise InputError(f"price has no effect on loss {name}, which has no parameter gamma.")
    scaled = examiner.gamma_at(price_w, loss, default)
    return loss, tuple(scaled * (gamma / default) for gamma in gammas), scaled
