"""Distance to the optimum: every policy against hindsight's best schedule of polls."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psm_sim.campaign.optimum_task import OptimumTask
from psm_sim.campaign.task_runner import Rows, Task
from psm_sim.lab.studies.energy_lower_bound_task import LowerBoundTask
from psm_sim.lab.studies.study import Findings, Scale, Study, Table, join_paragraphs
from psm_sim.simulation.scenario import Scenario
from psm_sim.summary_stats import confidence_interval

TRACE = "ucb:mean_think_s=54.5"
BOUNDS = (1.0, 0.5, 0.2, 0.1)
POLICIES = (
    "always-on", "psm", "bsd:p=1", "bsd:p=0.5", "bsd:p=0.2", "bsd:p=0.1",
    "lpsm:loss=inverse-log", "lpsm:loss=inverse",
)  # fmt: skip
LONG = ("psm:listen_interval=12", "psm:listen_interval=40")
"""Fixed polling times, for the far end of the frontier; in the simulator only."""

COMMENTARY = join_paragraphs(
    """
    The chain's schedule knows when every frame will reach the access point and when the station will send.
    It holds fixed the chain of activity read off the run without power saving: what is transmitted, in which
    order, and every silence; a late delivery delays all that follows by as much.

    Without delay the chain is the simulator's own run: its least energy is exact, and a schedule attains it.
    With delay it is a bound on the chain only. In the simulator parallel connections share a wait, while on
    the chain each late delivery delays the rest of the page; so the chain's delays are longer, and a policy
    can reach in the simulator what no schedule reaches on the chain: "lull" hears every beacon for 0.1 s
    after an uplink packet, and then one per minute.

    The floor holds in the simulator for every policy and every delay: asleep for the whole run, awake only
    while the bytes of the pages are on the air, and no beacon heard. It grows with the delay.
    """
)


class OptimumStudy(Study):
    """Hindsight's best without delay, the chain's frontier with it, and the floor that holds for both."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one chain and one comparison in the simulator per seed."""
        seeds = range(seed, seed + min(5, scale.replications))
        prices = 40 if scale.pages >= 100 else 16
        scenarios = [Scenario(TRACE, pages=scale.pages, seed=seed) for seed in seeds]
        chains = [OptimumTask(scenario, POLICIES, BOUNDS, prices) for scenario in scenarios]
        return [*chains, *(LowerBoundTask((*POLICIES, *LONG), scenario) for scenario in scenarios)]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return each policy's distance on the chain and in the simulator, and the first seed's frontier."""
        frame, simulated = pd.DataFrame(rows.of("optimum")), pd.DataFrame(rows.of("floor"))
        free = frame[frame["allowed"] == "no delay"].set_index("seed")["energy_j"]
        first = frame["seed"] == seed
        return Findings(
            "optimum",
            "How close to the limit: hindsight's best schedule of polls",
            f"ucb with its default server delay, mean think time 54.5 s, {len(free)} replications of"
            f" {scale.pages} pages, from seed {seed}",
            remarks=_remarks(frame, simulated, free),
            commentary=COMMENTARY,
            tables=[
                Table(
                    "In the simulator: each policy and the floor at its own page times",
                    _floors(simulated, free),
                ),
                Table(
                    "On the chain: each policy and the least energy at its own total delay",
                    _distances(frame, free),
                ),
                Table("On the chain: hindsight's best under a bound on every exchange", _bounded(frame)),
            ],
            figures={"frontier": _frontier(frame[first], simulated[simulated["seed"] == seed])},
        )


def _remarks(frame: pd.DataFrame, simulated: pd.DataFrame, free: pd.Series[float]) -> list[str]:
    dozing = simulated[simulated["policy"] != "always-on"].groupby("policy")
    joules, delays = dozing["energy_j"].mean(), dozing["delay_s"].mean()
    chain_j = _chain_least(frame)
    words = "below" if joules.min() < chain_j else "not below"
    over = simulated["energy_j"] / simulated["energy_lower_bound_j"] - 1
    nearest = simulated["policy"].to_numpy()[over.argmin()]
    longer = frame[frame["allowed"] == "policy"].groupby("policy")["delay_s"].mean() / delays
    lpsm = [name for name in POLICIES if name.startswith("lpsm")]
    return [
        f"Least energy without delay: {confidence_interval(free):.3f} J per page, attained in the simulator.",
        (
            f"Least energy of all in the simulator: {joules.min():.3f} J per page ({joules.idxmin()}),"
            f" {words} the least of the chain at any delay, {chain_j:.3f} J."
        ),
        f"Nearest to the floor: {nearest}, {100 * over.min():.1f} % above it; no policy is below.",
        "Delay on the chain over delay in the simulator: "
        + ", ".join(f"{name} {longer[name]:.2f}" for name in ("psm", *lpsm))
        + ".",
    ]


def _chain_least(frame: pd.DataFrame) -> float:
    corners = frame[frame["allowed"] == "frontier"]
    return float(corners.groupby("seed")["energy_j"].min().mean())


def _floors(simulated: pd.DataFrame, free: pd.Series[float]) -> pd.DataFrame:
    rows = []
    for policy, group in simulated.groupby("policy", sort=False):
        joules, floor = (group.set_index("seed")[name] for name in ("energy_j", "energy_lower_bound_j"))
        rows.append({
            "policy": policy,
            "J/page": f"{confidence_interval(joules):.3f}",
            "delay s/page": f"{confidence_interval(group['delay_s']):.3f}",
            "floor J": f"{confidence_interval(floor):.3f}",
            "above it %": f"{confidence_interval(100 * (joules / floor - 1)):.1f}",
            "above no delay %": f"{confidence_interval(100 * (joules / free - 1)):.1f}",
        })  # fmt: skip
    return pd.DataFrame(rows)


def _distances(frame: pd.DataFrame, free: pd.Series[float]) -> pd.DataFrame:
    rows = []
    for policy, group in frame[frame["allowed"] == "policy"].groupby("policy", sort=False):
        joules = group.set_index("seed")["energy_j"]
        least = group.set_index("seed")["least_j"]
        rows.append(
            {
                "policy": policy,
                "J/page": f"{confidence_interval(joules):.3f}",
                "delay s/page": f"{confidence_interval(group['delay_s']):.3f}",
                "least J at that delay": f"{confidence_interval(least):.3f}",
                "above it %": f"{confidence_interval(100 * (joules / least - 1)):.1f}",
                "above no delay %": f"{confidence_interval(100 * (joules / free - 1)):.1f}",
            }
        )
    return pd.DataFrame(rows)


def _bounded(frame: pd.DataFrame) -> pd.DataFrame:
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
    chain = pd.DataFrame({"kind": shown["allowed"], "label": shown["policy"].fillna("")})
    chain = chain.assign(delay_s=shown["delay_s"], energy_j=shown["energy_j"])
    runs = simulated[["delay_s", "energy_j"]].assign(kind="simulated", label=simulated["policy"])
    floor = simulated[["delay_s"]].assign(kind="floor", label="", energy_j=simulated["energy_lower_bound_j"])
    joined = pd.concat([chain, runs, floor.sort_values("delay_s")], ignore_index=True)
    return joined[["kind", "label", "delay_s", "energy_j"]]


STUDY = OptimumStudy()
