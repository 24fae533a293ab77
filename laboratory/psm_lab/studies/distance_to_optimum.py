"""Study of the distance between every policy and the offline optimum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pandas as pd

from psm_lab.energy_lower_bound import energy_lower_bound_j
from psm_lab.studies.study import Findings, Scale, Study, Table, join_paragraphs
from psm_lab.studies.tasks import OptimumTask, Rows, RunTask, Task
from psm_sim.common.summary_stats import confidence_interval
from psm_sim.policies import Policy, Poll, Rest
from psm_sim.simulation.comparison import Comparison
from psm_sim.simulation.policy_comparison import compare_runs
from psm_sim.simulation.result import Result
from psm_sim.simulation.scenario import Scenario


class LullPolicy(Policy):
    """Policy that receives every beacon shortly after an uplink packet, and then one per minute.

    It receives almost no beacon while the user thinks. It is tuned to the traffic of the study, which no
    station knows in advance, to show how little energy a policy can need in the simulator.
    """

    name = "lull"

    def __init__(self, until_s: float = 0.1, beacons: int = 600) -> None:
        self.until_s, self.beacons = until_s, beacons

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Return a doze of one beacon, or of a minute; arguments as for :class:`~psm_sim.policies.Policy`."""
        return Rest(beacons=1 if since_uplink_s < self.until_s else self.beacons)


@dataclass(frozen=True)
class LowerBoundTask(RunTask):
    """Task that runs policies and :class:`LullPolicy` over the same pages, with one row per policy.

    ``energy_j`` and ``energy_lower_bound_j`` are in joules per page. The lower bound refers to the policy's
    own run. ``delay_s`` is the page time minus the page time without power saving, in seconds per page.
    """

    kind: ClassVar[str] = "floor"

    def run(self) -> list[dict[str, Any]]:
        """Run the policies and return the rows."""
        comparison = compare_runs((*self.policies, LullPolicy()), self.scenario)
        return [self._row(run, comparison) for run in comparison.runs]

    def _row(self, run: Result, comparison: Comparison) -> dict[str, Any]:
        pages, topology = comparison.workload.pages, comparison.resolved_topology
        return {
            "seed": self.scenario.seed,
            "policy": run.policy,
            "energy_j": run.energy_per_page_j,
            "energy_lower_bound_j": energy_lower_bound_j(pages, topology, run.simulated_s) / len(pages),
            "delay_s": run.page_time_s.mean - comparison.always_on.page_time_s.mean,
        }


TRACE = "ucb:mean_think_s=54.5"
BOUNDS = (1.0, 0.5, 0.2, 0.1)
POLICIES = (
    "always-on", "psm", "bsd:p=1", "bsd:p=0.5", "bsd:p=0.2", "bsd:p=0.1",
    "lpsm:loss=inverse-log", "lpsm:loss=inverse",
)  # fmt: skip
LONG = ("psm:listen_interval=12", "psm:listen_interval=40")
"""Long fixed polling times for the far end of the frontier. They run in the simulator only."""

COMMENTARY = join_paragraphs(
    """
    The offline optimum knows when every frame will reach the access point and when the station will send.
    It uses a simplified model, the event chain. This is the sequence of transmissions and idle periods
    of the run without power saving. A late delivery shifts everything that follows by the same time.

    Without delay the event chain equals the simulated run, so its minimum energy is exact and a
    schedule attains it. With delay its minimum is a bound on the event chain only. In the simulator
    parallel connections share a wait, but on the event chain each late delivery delays the rest of the
    page. The delays on the event chain are therefore longer. A policy in the simulator can need less
    energy than any schedule on the event chain. The policy "lull" does so. It receives every beacon
    for 0.1 s after an uplink packet, and then one per minute.

    The lower bound holds in the simulator for every policy and every delay. It assumes a radio that sleeps
    for the whole run, is awake only while the bytes of the pages are transmitted, and receives no beacon. It
    grows with the delay.
    """
)


class OptimumStudy(Study):
    """Offline optimum without delay, its frontier with delay, and the lower bound in the simulator."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one offline optimum and one simulated comparison per seed.

        *scale* and *seed* as for :class:`Study`.
        """
        seeds = range(seed, seed + min(5, scale.replications))
        prices = 40 if scale.pages >= 100 else 16
        scenarios = [Scenario(TRACE, pages=scale.pages, seed=seed) for seed in seeds]
        optima = [OptimumTask(scenario, POLICIES, BOUNDS, prices) for scenario in scenarios]
        return [*optima, *(LowerBoundTask((*POLICIES, *LONG), scenario) for scenario in scenarios)]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return each policy's distance to the optimum and to the lower bound, and the frontier.

        *rows*, *scale* and *seed* as for :class:`Study`. The frontier is that of the first seed.
        """
        frame, simulated = pd.DataFrame(rows.of("optimum")), pd.DataFrame(rows.of("floor"))
        free = frame[frame["allowed"] == "no delay"].set_index("seed")["energy_j"]
        first = frame["seed"] == seed
        return Findings(
            "optimum",
            "Distance of each policy from the offline optimum",
            f"ucb with its default server delay, mean think time 54.5 s, {len(free)} replications of"
            f" {scale.pages} pages, from seed {seed}",
            remarks=_remarks(frame, simulated, free),
            commentary=COMMENTARY,
            tables=[
                Table(
                    "Simulated energy of each policy, and the lower bound at its page times",
                    _lower_bounds(simulated, free),
                ),
                Table(
                    "Event chain: each policy, and the minimum energy at its total delay",
                    _distances(frame, free),
                ),
                Table("Event chain: offline optimum under a bound on every exchange", _bounds(frame)),
            ],
            figures={"frontier": _frontier(frame[first], simulated[simulated["seed"] == seed])},
        )


def _remarks(frame: pd.DataFrame, simulated: pd.DataFrame, free: pd.Series[float]) -> list[str]:
    dozing = simulated[simulated["policy"] != "always-on"].groupby("policy")
    joules, delays = dozing["energy_j"].mean(), dozing["delay_s"].mean()
    chain_j = _min_on_chain(frame)
    relation = "below" if joules.min() < chain_j else "not below"
    excess = simulated["energy_j"] / simulated["energy_lower_bound_j"] - 1
    nearest = simulated["policy"].to_numpy()[excess.argmin()]
    ratios = frame[frame["allowed"] == "policy"].groupby("policy")["delay_s"].mean() / delays
    lpsm = [name for name in POLICIES if name.startswith("lpsm")]
    return [
        (
            f"The minimum energy without delay is {confidence_interval(free):.3f} J per page. A schedule"
            " attains it in the simulator."
        ),
        (
            f"The minimum energy of all simulated policies is {joules.min():.3f} J per page"
            f" ({joules.idxmin()}). It is {relation} the minimum on the event chain at any delay,"
            f" {chain_j:.3f} J."
        ),
        (
            f"The policy nearest to the lower bound is {nearest}, {100 * excess.min():.1f} % above it. No"
            " policy is below."
        ),
        "Delay on the event chain divided by delay in the simulator: "
        + ", ".join(f"{name} {ratios[name]:.2f}" for name in ("psm", *lpsm))
        + ".",
    ]


def _min_on_chain(frame: pd.DataFrame) -> float:
    corners = frame[frame["allowed"] == "frontier"]
    return float(corners.groupby("seed")["energy_j"].min().mean())


_ABOVE_OPTIMUM = "excess over the optimum without delay %"


def _lower_bounds(simulated: pd.DataFrame, free: pd.Series[float]) -> pd.DataFrame:
    rows = []
    for policy, group in simulated.groupby("policy", sort=False):
        joules, bound = (group.set_index("seed")[name] for name in ("energy_j", "energy_lower_bound_j"))
        rows.append({
            "policy": policy,
            "J/page": f"{confidence_interval(joules):.3f}",
            "delay s/page": f"{confidence_interval(group['delay_s']):.3f}",
            "lower bound J": f"{confidence_interval(bound):.3f}",
            "excess %": f"{confidence_interval(100 * (joules / bound - 1)):.1f}",
            _ABOVE_OPTIMUM: f"{confidence_interval(100 * (joules / free - 1)):.1f}",
        })  # fmt: skip
    return pd.DataFrame(rows)


def _distances(frame: pd.DataFrame, free: pd.Series[float]) -> pd.DataFrame:
    rows = []
    for policy, group in frame[frame["allowed"] == "policy"].groupby("policy", sort=False):
        joules = group.set_index("seed")["energy_j"]
        minimum = group.set_index("seed")["least_j"]
        rows.append(
            {
                "policy": policy,
                "J/page": f"{confidence_interval(joules):.3f}",
                "delay s/page": f"{confidence_interval(group['delay_s']):.3f}",
                "minimum J at that delay": f"{confidence_interval(minimum):.3f}",
                "excess %": f"{confidence_interval(100 * (joules / minimum - 1)):.1f}",
                _ABOVE_OPTIMUM: f"{confidence_interval(100 * (joules / free - 1)):.1f}",
            }
        )
    return pd.DataFrame(rows)


def _bounds(frame: pd.DataFrame) -> pd.DataFrame:
    best = frame[~frame["allowed"].isin(["policy", "frontier"])]
    rows = [
        {
            "allowed": allowed if allowed == "no delay" else f"delivery within (1 + p), {allowed}",
            "J/page": f"{confidence_interval(group['energy_j']):.3f}",
            "delay s/page": f"{confidence_interval(group['delay_s']):.3f}",
        }
        for allowed, group in best.groupby("allowed", sort=False)
    ]
    return pd.DataFrame(rows)


def _frontier(frame: pd.DataFrame, simulated: pd.DataFrame) -> pd.DataFrame:
    shown = frame[frame["allowed"].isin(["frontier", "policy"])]
    optima = pd.DataFrame({"kind": shown["allowed"], "label": shown["policy"].fillna("")})
    optima = optima.assign(delay_s=shown["delay_s"], energy_j=shown["energy_j"])
    runs = simulated[["delay_s", "energy_j"]].assign(kind="simulated", label=simulated["policy"])
    bound = simulated[["delay_s"]].assign(kind="floor", label="", energy_j=simulated["energy_lower_bound_j"])
    points = pd.concat([optima, runs, bound.sort_values("delay_s")], ignore_index=True)
    return points[["kind", "label", "delay_s", "energy_j"]]


STUDY = OptimumStudy()
