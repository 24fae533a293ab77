"""Study ``what-limits-lpsm``: factors of LPSM changed one at a time, compared with the offline optimum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from psm_lab.studies.published_claims import Words, judge, study_texts
from psm_lab.studies.study import Findings, Scale, Table, table_of_means
from psm_lab.studies.tasks import Row, Rows, Task
from psm_sim.campaign.loss_comparison import GAMMA_FACTORS
from psm_sim.common.parameters import values_of
from psm_sim.common.summary_stats import Interval, confidence_interval
from psm_sim.hindsight.offline_optimum import offline_optimum
from psm_sim.hindsight.traffic_chain_recorder import record_slowdowns
from psm_sim.losses import make_loss
from psm_sim.simulation import Scenario, run_comparison

LPSM = "lpsm"
"""Published LPSM: Learn-alpha, weighted mean, inverse-log, no information beyond polls."""


def _gammas(loss: str) -> list[str]:
    """Return LPSM with a loss at each gamma of :data:`GAMMA_FACTORS`, without the published setting."""
    default = values_of(make_loss(loss))["gamma"]
    gammas = {factor: default * factor for factor in GAMMA_FACTORS if (loss, factor) != ("inverse-log", 1)}
    return [f"lpsm:loss={loss},gamma={gamma:.6g}" for gamma in gammas.values()]


ALONE: Mapping[str, Sequence[str]] = {
    "learner": (
        "lpsm:learner=short-learn-alpha", "lpsm:learner=decreasing-share", "lpsm:learner=mixing-past",
        "lpsm:alpha=0", "lpsm:alpha=0.001", "lpsm:alpha=0.02", "lpsm:alpha=0.1",
    ),
    "rule": tuple(
        f"lpsm:rule={rule}" for rule in ("harmonic", "median", "quantile:0.1", "quantile:0.25", "sample")
    ),
    "loss": (
        *_gammas("inverse-log"), *_gammas("inverse"), "lpsm:loss=arrival-aware", "lpsm:loss=retrieval-energy",
    ),
    "information": ("lpsm:context=outstanding",),
}  # fmt: skip
"""Settings of LPSM in which one factor differs from the published setting."""

TOGETHER: Mapping[str, Sequence[str]] = {
    "policy with information that sleeps between beacons": (
        "outstanding", "anticipate:price_w=1,awake=false", "anticipate:price_w=5,awake=false",
    ),
    "policy without information that stays awake for replies": ("bsd:p=1",),
    "policy with information that stays awake for replies": ("anticipate:price_w=1", "anticipate:price_w=5"),
}  # fmt: skip
"""Policies that differ from LPSM in more than one factor."""

FACTORS = {**ALONE, **TOGETHER}

PRICES_W = (0.1, 1.0, 5.0)
"""Prices of added page time in watts, i.e. in joules per second."""


class Pages(NamedTuple):
    """Number of pages of a full and of a quick run, and the run time of a page relative to ``ucb``."""

    full: int
    quick: int
    weight: int

    def at(self, scale: Scale) -> int:
        """Return the number of pages of a run at a scale."""
        return self.full if scale.full else self.quick


# The pages of shifting are half a cycle of its regimes, and contain no pushed messages.
TRACES = {
    "ucb": Pages(60, 20, 1),
    "ucb:server_delay_ms=650": Pages(60, 20, 1),
    "modern": Pages(10, 2, 12),
    "shifting": Pages(157, 60, 1),
}

JUDGING_OFFSET, CHOOSING_OFFSET = 6100, 6000
"""Offsets of the seeds on which shares are judged, and of those on which settings are chosen."""
_CHOICES = 3  # seeds for choosing

HALF, ENOUGH = 0.5, 3  # share above which a factor is the main one; number of the 4 traces that must agree
MORE, LESS, OPEN = "more than half", "less than half", "open"
NO_DISTANCE = "no distance"
"""Cell of a table where LPSM's distance is not above 0."""


def distances_to_optimum(policies: Sequence[str], scenario: Scenario) -> list[Row]:
    """Run *policies* in a *scenario* and return one row per policy and price.

    ``distance_j`` is the cost in joules per page minus that of the offline optimum, ``optimum_j``. The delay
    of a frame outside pages costs nothing.
    """
    comparison = run_comparison(policies, scenario)
    always_on_s = comparison.always_on["page_time_s.mean"]
    chain = record_slowdowns(scenario.workload().pages, scenario.resolve_topology())
    steps = tuple(step._replace(weight=float(step.weight > 0)) for step in chain.steps)
    chain, rows = replace(chain, steps=steps), []
    optima = [(price_w, offline_optimum(chain, price_w)) for price_w in PRICES_W]
    for policy, run in zip(policies, comparison.runs, strict=True):
        energy_j, delay_s = run.energy_per_page_j, run["page_time_s.mean"] - always_on_s
        for price_w, optimum in optima:
            optimum_j = (optimum.energy_j + price_w * optimum.delay_s) / chain.pages
            rows.append(
                {
                    "seed": scenario.seed,
                    "policy": policy,
                    "energy_j": energy_j,
                    "slowdown": run["slowdown.mean"],
                    "price_w": price_w,
                    "optimum_j": optimum_j,
                    "distance_j": energy_j + price_w * delay_s - optimum_j,
                }
            )
    return rows


class Closed(NamedTuple):
    """Share of the distance between LPSM and the offline optimum that a setting closes on one trace.

    The setting is the one chosen for a factor. The share is None if the distance is not above 0.
    """

    setting: str
    share: Interval | None

    @property
    def verdict(self) -> str:
        """Verdict on the trace, by the rule of the study."""
        words = Words(below=LESS, above=MORE, otherwise=OPEN)
        return OPEN if self.share is None else judge(self.share, HALF, HALF, words)


Results = dict[tuple[str, float], dict[str, Closed]]
"""Results by factor and price, and then by trace."""


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return one task per trace and seed."""
    policies = (LPSM, *(setting for settings in FACTORS.values() for setting in settings))
    all_tasks = []
    for trace, pages in TRACES.items():
        for number in (*scale.few(CHOOSING_OFFSET + seed, _CHOICES), *scale.seeds(JUDGING_OFFSET + seed)):
            scenario = Scenario(trace, pages=pages.at(scale), seed=number)
            arguments = {"policies": policies, "scenario": scenario}
            weight = pages.weight * scenario.pages * (1 + len(policies))
            all_tasks.append(Task("distance", distances_to_optimum, arguments, weight, {"trace": trace}))
    return all_tasks


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Return the share of each factor, the verdicts, and the shares of all settings."""
    choosing, judging = scale.few(CHOOSING_OFFSET + seed, _CHOICES), scale.seeds(JUDGING_OFFSET + seed)
    frame = pd.DataFrame(rows.of("distance"))
    judged = frame[frame["seed"].isin(judging)]
    results = judge_factors(frame[frame["seed"].isin(choosing)], judged)
    sizes = ", ".join(f"{trace} {pages.at(scale)}" for trace, pages in TRACES.items())
    shares, settings = _factor_tables(results)
    return Findings(
        **study_texts("what-limits-lpsm"),
        setting=f"{len(judging)} seeds from {judging[0]} on, with settings chosen on {len(choosing)} from"
        f" {choosing[0]} on; pages per seed: {sizes}",
        tables=[
            Table("Share of LPSM's distance that each factor closes, in %", shares),
            Table("Setting chosen for each factor", settings),
            Table("Cost of the offline optimum and of LPSM, in J per page", _cost_table(judged)),
            *(Table(f"All settings on {trace}", _all_settings(judged, trace)) for trace in TRACES),
        ],
        summary=summarise(results),
    )


def share_closed(lpsm: pd.Series[float], policy: pd.Series[float]) -> Interval | None:
    """Return the share of LPSM's mean distance that a policy closes, with its interval over seeds.

    Parameters
    ----------
    lpsm, policy : Series
        Distances in joules per page, with the seeds as index.

    Returns
    -------
    Interval or None
        Ratio of means, with the linearised interval of a ratio of paired values. It is None if the interval
        of LPSM's distance is not above 0.
    """
    if confidence_interval(lpsm).low <= 0:
        return None
    closed_j = lpsm - policy
    share = float(closed_j.mean() / lpsm.mean())
    return confidence_interval(share + (closed_j - share * lpsm) / lpsm.mean())


def price_verdict(closed: Mapping[str, Closed]) -> str:
    """Return the verdict at a price from the verdicts on the traces."""
    verdicts = [result.verdict for result in closed.values()]
    return next((verdict for verdict in verdicts if verdicts.count(verdict) >= ENOUGH), OPEN)


def judge_factors(choosing: pd.DataFrame, judging: pd.DataFrame) -> Results:
    """Return the share and the verdict of each factor at each price on each trace.

    Parameters
    ----------
    choosing, judging : DataFrame
        Rows of :func:`distances_to_optimum` on the seeds for choosing and on those for judging.
    """
    means, distances = _distances(choosing).mean(), _distances(judging)

    def best(settings: Sequence[str], price_w: float, trace: str) -> Closed:
        setting = min(settings, key=lambda policy: means[trace, price_w, policy])
        share = share_closed(distances[trace, price_w, LPSM], distances[trace, price_w, setting])
        return Closed(setting, share)

    return {
        (factor, price_w): {trace: best(settings, price_w, trace) for trace in TRACES}
        for factor, settings in FACTORS.items()
        for price_w in PRICES_W
    }


def _distances(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the distances with the seeds as index and (trace, price, policy) as columns."""
    return rows.pivot_table("distance_j", "seed", ["trace", "price_w", "policy"])


_NONE = (
    "No factor alone limits LPSM. Of {}, none closes more than half of LPSM's distance to the offline optimum"
    " on three of the four traces."
)


def summarise(results: Results) -> list[str]:
    """Return the answer of the study, and the shares at each price, from the results alone."""
    answer = [
        f"The {name} alone limits LPSM at {prices}." for name in ALONE if (prices := _limiting(results, name))
    ] or [_NONE.format(", ".join(ALONE))]
    answer += [
        f"A {name} closes more than half at {_limiting(results, name) or 'no price'}." for name in TOGETHER
    ]
    at_prices = [
        f"Shares that the factors close at {price_w:g} W, from the lowest to the highest of the traces: "
        + ", ".join(f"{factor} {_range(results[factor, price_w])}" for factor in ALONE)
        + "."
        for price_w in PRICES_W
    ]
    return [" ".join(answer), *at_prices]


def _limiting(results: Results, factor: str) -> str:
    """Return the prices at which a factor limits LPSM, with the shares that it closes."""
    closed = {price_w: results[factor, price_w] for price_w in PRICES_W}
    return " and ".join(
        f"{price_w:g} W ({_range(traces)})"
        for price_w, traces in closed.items()
        if price_verdict(traces) == MORE
    )


def _range(closed: Mapping[str, Closed]) -> str:
    shares = [100 * result.share.mean for result in closed.values() if result.share]
    return f"{min(shares):z.0f} to {max(shares):z.0f} %" if shares else NO_DISTANCE


def _factor_tables(results: Results) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the shares that the factors close, and the chosen settings of factors with several settings."""
    shares, settings = [], []
    for (factor, price_w), closed in results.items():
        labels = {"factor": factor, "price W": f"{price_w:g}"}
        percents = {trace: _percent(result.share) for trace, result in closed.items()}
        shares.append({**labels, **percents, "verdict": price_verdict(closed)})
        if len(FACTORS[factor]) > 1:
            settings.append({**labels, **{trace: result.setting for trace, result in closed.items()}})
    return pd.DataFrame(shares), pd.DataFrame(settings)


def _cost_table(judged: pd.DataFrame) -> pd.DataFrame:
    lpsm = judged[judged["policy"] == LPSM]
    lpsm = lpsm.assign(**{"price W": lpsm["price_w"].map("{:g}".format)})
    lpsm = lpsm.assign(lpsm_j=lpsm["optimum_j"] + lpsm["distance_j"])
    columns = {"optimum": "optimum_j", "LPSM": "lpsm_j", "distance": "distance_j"}
    texts = {heading: (column, "{:.3f}") for heading, column in columns.items()}
    return table_of_means(lpsm, ["trace", "price W"], texts)


def _all_settings(judged: pd.DataFrame, trace: str) -> pd.DataFrame:
    distances = _distances(judged)[trace]
    once = judged[(judged["trace"] == trace) & (judged["price_w"] == PRICES_W[0])]
    columns = {"J/page": ("energy_j", "{:.3f}"), "slowdown": ("slowdown", "{:.3f}")}
    table = table_of_means(once, "policy", columns)
    for price_w in PRICES_W:
        shares = [
            share_closed(distances[price_w, LPSM], distances[price_w, each]) for each in table["policy"]
        ]
        table[f"closed % at {price_w:g} W"] = [_percent(share) for share in shares]
    return table


def _percent(share: Interval | None) -> str:
    if share is None:
        return NO_DISTANCE
    return f"{share._replace(mean=100 * share.mean, half_width=100 * share.half_width):z.0f}"
