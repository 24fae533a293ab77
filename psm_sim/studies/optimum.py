"""Distance to the optimum: every policy against hindsight's best schedule of polls."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psm_sim.campaign.hindsight import OptimumTask
from psm_sim.campaign.tasks import Rows, Task
from psm_sim.estimates import interval
from psm_sim.simulation.scenario import Scenario
from psm_sim.studies.study import Findings, Scale, Table

TRACE = "ucb:mean_think_s=54.5"
BOUNDS = (1.0, 0.5, 0.2, 0.1)
POLICIES = (
    "always-on", "psm", "bsd:p=1", "bsd:p=0.5", "bsd:p=0.2", "bsd:p=0.1",
    "lpsm:loss=inverse-log", "lpsm:loss=inverse",
)  # fmt: skip


class Limit:
    """Hindsight's best without delay, within BSD's bounds, and at every total delay."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one chain per seed."""
        seeds = range(seed, seed + min(5, scale.replications))
        prices = 40 if scale.pages >= 100 else 16
        return [
            OptimumTask(Scenario(TRACE, pages=scale.pages, seed=each), POLICIES, BOUNDS, prices)
            for each in seeds
        ]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return each policy's distance, and the first seed's frontier; arguments as for :class:`Study`."""
        frame = pd.DataFrame(rows.of("optimum"))
        free = frame[frame["allowed"] == "no delay"].set_index("seed")["energy_j"]
        return Findings(
            "optimum",
            "How close to the limit: hindsight's best schedule of polls",
            f"ucb with its default server delay, mean think time 54.5 s, {len(free)} replications of"
            f" {scale.pages} pages, from seed {seed}",
            remarks=[
                (
                    "The schedule knows when every frame will reach the access point and when the station"
                    " will send. It holds fixed the chain of activity read off the run without power saving:"
                    " what is transmitted, in which order, and every silence; a late delivery delays all that"
                    " follows by as much. Policies are played on the same chain, so that the comparison is"
                    " exact; without delay the chain's energy is the simulator's."
                ),
                (
                    "Before a frame there are three choices that can be best: stay awake, doze to the last"
                    " beacon before it, or to the first after it. Dynamic programming over the delivery that"
                    " last set the phase of the beacons finds the best of all schedules."
                ),
            ],
            tables=[
                Table("Each policy and the least energy at its own total delay", _distances(frame, free)),
                Table("Hindsight's best under a bound on every exchange", _bounded(frame)),
            ],
            figures={"frontier": _frontier(frame[frame["seed"] == seed])},
        )


def _distances(frame: pd.DataFrame, free: pd.Series[float]) -> pd.DataFrame:
    rows = []
    for policy, group in frame[frame["allowed"] == "policy"].groupby("policy", sort=False):
        joules = group.set_index("seed")["energy_j"]
        least = group.set_index("seed")["least_j"]
        rows.append(
            {
                "policy": policy,
                "J/page": f"{interval(joules):.3f}",
                "delay s/page": f"{interval(group['delay_s']):.3f}",
                "least J at that delay": f"{interval(least):.3f}",
                "above it %": f"{interval(100 * (joules / least - 1)):.1f}",
                "above no delay %": f"{interval(100 * (joules / free - 1)):.1f}",
            }
        )
    return pd.DataFrame(rows)


def _bounded(frame: pd.DataFrame) -> pd.DataFrame:
    best = frame[~frame["allowed"].isin(["policy", "frontier"])]
    rows = [
        {
            "allowed": allowed if allowed == "no delay" else f"delivery within (1 + p), {allowed}",
            "J/page": f"{interval(group['energy_j']):.3f}",
            "delay s/page": f"{interval(group['delay_s']):.3f}",
        }
        for allowed, group in best.groupby("allowed", sort=False)
    ]
    return pd.DataFrame(rows)


def _frontier(frame: pd.DataFrame) -> pd.DataFrame:
    shown = frame[frame["allowed"].isin(["frontier", "policy"])]
    return pd.DataFrame(
        {
            "kind": shown["allowed"],
            "label": shown["policy"].fillna(""),
            "delay_s": shown["delay_s"],
            "energy_j": shown["energy_j"],
        }
    ).reset_index(drop=True)


STUDY = Limit()
