"""Main results of the thesis (section 2.5.4): 100 pages, and 4 experiments of 500 pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from psm_sim.campaign.comparison import RunTask, against
from psm_sim.campaign.hindsight import OptimumTask
from psm_sim.campaign.tasks import Rows, Task
from psm_sim.estimates import interval
from psm_sim.simulation.preset import load_preset
from psm_sim.simulation.scenario import Scenario
from psm_sim.studies.bars import mean_states
from psm_sim.studies.published import claims
from psm_sim.studies.study import Findings, Scale, Table

LPSM = ("lpsm:loss=inverse-log", "lpsm:loss=inverse")
BSD = ("bsd:p=1", "bsd:p=0.5", "bsd:p=0.2", "bsd:p=0.1")
POLICIES = ("always-on", "psm", *BSD, *LPSM)
QUANTITIES = {
    "energy_j": "J/page",
    "awake_j": "awake J",
    "asleep_j": "asleep J",
    "beacons_j": "beacons J",
    "slowdown": "slowdown",
    "energy_ratio": "energy / psm",
    "page_ratio_mean": "page time / psm",
    "page_ratio_max": "worst page / psm",
}


@dataclass(frozen=True)
class Headline:
    """Every policy on the same pages, in independent replications, under the ``thesis`` preset.

    ``mean_think_s`` is calibrated so that static PSM's pages average the published length.
    """

    name: str
    title: str
    mean_think_s: float
    long: bool

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one comparison per seed, and hindsight's best schedule on the same pages."""
        preset = load_preset("thesis")
        trace = preset.trace_spec(mean_think_s=self.mean_think_s)
        policies = tuple(preset.policy_spec(policy) for policy in POLICIES)
        pages = scale.long_pages if self.long else scale.pages
        seeds = list(scale.seeds(seed))[: 4 if self.long else None]
        scenarios = [Scenario(trace, pages=pages, seed=each, settings=preset.settings) for each in seeds]
        best = [OptimumTask(scenario, prices=0) for scenario in scenarios]
        return [*(RunTask(policies, scenario) for scenario in scenarios), *best]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Set the means beside the published bars; arguments as for :class:`Study`."""
        frame = pd.DataFrame(rows.of("run"))
        preset = load_preset("thesis")
        plain = {str(preset.policy_spec(policy)): policy for policy in POLICIES}
        frame["policy"] = frame["policy"].map(plain)
        frame = against(frame, "psm")
        best = [row["energy_j"] for row in rows.of("optimum")]
        values = {
            (str(policy), quantity): group[quantity].tolist()
            for policy, group in frame.groupby("policy", sort=False)
            for quantity in QUANTITIES
        }
        return Findings(
            self.name,
            self.title,
            self._setting(scale, seed, len(best)),
            remarks=_remarks(frame, best),
            tables=[Table("Means with 95 % confidence intervals", _means(frame, best))],
            claims=claims(self.name, values),
            figures={"energy": mean_states(frame, best), "slowdown": _slowdowns(frame)},
        )

    def _setting(self, scale: Scale, seed: int, replications: int) -> str:
        pages = scale.long_pages if self.long else scale.pages
        return (
            f"preset thesis, mean think time {self.mean_think_s:g} s, {replications} replications of"
            f" {pages} pages, seeds {seed} to {seed + replications - 1}"
        )


def _means(frame: pd.DataFrame, best: Sequence[float]) -> pd.DataFrame:
    rows = [
        {"policy": policy, **{label: f"{interval(group[name]):.3f}" for name, label in QUANTITIES.items()}}
        for policy, group in frame.groupby("policy", sort=False)
    ]
    optimum = dict.fromkeys(QUANTITIES.values(), "") | {"J/page": f"{interval(best):.3f}", "slowdown": "1"}
    return pd.DataFrame([*rows, {"policy": "hindsight, no delay", **optimum}])


def _remarks(frame: pd.DataFrame, best: Sequence[float]) -> list[str]:
    psm, log = (frame[frame["policy"] == name] for name in ("psm", LPSM[0]))
    paired = interval((log["energy_j"].to_numpy() - psm["energy_j"].to_numpy()).tolist())
    above = interval((log["energy_j"].to_numpy() / best - 1).tolist())
    dozing = frame[frame["policy"].isin(["psm", *LPSM])]
    rest = (dozing["energy_j"] - dozing["beacons_j"]).groupby(dozing["policy"]).mean()
    always, bsd = (frame[frame["policy"] == name]["energy_j"].mean() for name in ("always-on", "bsd:p=1"))
    spread = 100 * (rest.max() / rest.min() - 1)
    more = f"{100 * above.mean:+.1f} %"
    return [
        f"LPSM with 1/log T less static PSM, on the same pages (paired): {paired:.3f} J per page.",
        f"LPSM with 1/log T, which delays, against hindsight's best without delay: {more}.",
        f"Energy that is not beacons, static PSM and both LPSM: {spread:.2f} % between largest and least.",
        f"No power saving over BSD with p = 1: {always / bsd:.1f} times the energy.",
        f"Largest ratio of a page's time to static PSM's: {log['page_ratio_max'].max():.2f} with 1/log T.",
    ]


def _slowdowns(frame: pd.DataFrame) -> pd.DataFrame:
    rows = [
        {"policy": policy, "slowdown": mean.mean, "half_width": mean.half_width}
        for policy, group in frame.groupby("policy", sort=False)
        for mean in [interval(group["slowdown"])]
    ]
    return pd.DataFrame(rows)


LPSM_100 = Headline("lpsm-100", "100 Web transfers (thesis, figures 2-6 a and 2-7 a)", 53.0, long=False)
LPSM_4X500 = Headline("lpsm-4x500", "4 x 500 Web transfers (figures 2-6 b and 2-7 b)", 60.4, long=True)
