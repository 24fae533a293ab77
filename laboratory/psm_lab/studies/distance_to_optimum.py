"""Study of the distance between every policy and the offline optimum."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psm_lab.studies.published_claims import study_texts
from psm_lab.studies.published_experiment_runs import LPSM, POLICIES
from psm_lab.studies.study import Findings, Scale, Table, table_of_means
from psm_lab.studies.tasks import Row, Rows, Task, optimum_task
from psm_sim.common.summary_stats import confidence_interval
from psm_sim.network import Topology
from psm_sim.policies import Policy, Poll, Rest
from psm_sim.simulation import Scenario, run_comparison
from psm_sim.workload import Page


class LullPolicy(Policy):
    """Policy that receives every beacon shortly after an uplink packet, and then one per minute.

    It receives almost no beacon while the user thinks. The policy shows how little energy is needed in the
    simulator. It is tuned to the traffic of the study, which no station knows in advance.
    """

    name = "lull"

    def __init__(self, until_s: float = 0.1, beacons: int = 600) -> None:
        self.until_s, self.beacons = until_s, beacons

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Return a doze of a beacon or a minute. See :class:`~psm_sim.policies.Policy` for the arguments."""
        return Rest(beacons=1 if since_uplink_s < self.until_s else self.beacons)


def energy_lower_bound_j(pages: Sequence[Page], topology: Topology, run_s: float) -> float:
    """Return a lower bound on the energy in joules of any policy whose run takes *run_s* seconds.

    Every second of a run is spent awake or asleep, and beacons cost additional energy:
    E = asleep_w (run_s - awake_s) + awake_w awake_s + beacon_j beacons. A policy can receive no beacons,
    because it can stay awake. However, a frame is received only while the radio is awake, and downlink
    frames pass the wireless hop one after the other. So awake_s is at least the transmission time air_s of
    all object bytes, without headers and retransmissions. If asleep_w <= awake_w, the energy is therefore at
    least asleep_w run_s + (awake_w - asleep_w) air_s.

    In contrast to the frontier of a chain (:func:`psm_sim.hindsight.offline_optimum.offline_frontier`),
    the bound does not depend on how a delay affects the rest of a page. It uses the run time of the policy.

    Parameters
    ----------
    pages : sequence of Page
        The pages that the run loaded.
    topology : Topology
        The resolved topology, with the powers in W and the bit rate of the wireless hop.
    run_s : float
        Time from the start of the run to the end of its last page, in seconds.

    Returns
    -------
    float
        Lower bound, in joules.
    """
    bits = 8 * sum(page.total_bytes for page in pages)
    air_s = bits / (1e6 * topology.wireless.rate_mbps)
    power = topology.power
    return power.asleep_w * run_s + max(0.0, power.awake_w - power.asleep_w) * air_s


def run_with_lower_bound(policies: Sequence[str], scenario: Scenario) -> list[Row]:
    """Run *policies* and :class:`LullPolicy` in a *scenario* and return one row per policy.

    ``energy_j`` and ``energy_lower_bound_j`` are in joules per page. The lower bound depends on the
    duration of the policy's run. ``delay_s`` is the page time minus the page time without power saving, in
    seconds per page.
    """
    comparison = run_comparison((*policies, LullPolicy()), scenario)
    pages, topology = comparison.workload.pages, comparison.resolved_topology
    return [
        {
            "seed": scenario.seed,
            "policy": run.policy,
            "energy_j": run.energy_per_page_j,
            "energy_lower_bound_j": energy_lower_bound_j(pages, topology, run["simulated_s"]) / len(pages),
            "delay_s": run["page_time_s.mean"] - comparison.always_on["page_time_s.mean"],
        }
        for run in comparison.runs
    ]


TRACE = "ucb:mean_think_s=54.5"
BOUNDS = (1.0, 0.5, 0.2, 0.1)
"""Bounds p of the slowdown, as in the BSD paper."""

LONG = ("psm:listen_interval=12", "psm:listen_interval=40")
"""Long fixed polling times for the far end of the frontier. They run in the simulator only."""


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return one offline optimum and one simulated comparison per seed."""
    all_tasks: list[Task] = []
    for number in range(seed, seed + min(5, scale.replications)):
        scenario = Scenario(TRACE, pages=scale.pages, seed=number)
        all_tasks.append(
            optimum_task(scenario, policies=POLICIES, bounds=BOUNDS, prices=40 if scale.pages >= 100 else 16)
        )
        arguments = {"policies": (*POLICIES, *LONG), "scenario": scenario}
        all_tasks.append(Task("floor", run_with_lower_bound, arguments, scale.pages * (2 + len(POLICIES))))
    return all_tasks


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Return each policy's distance to the optimum and to the lower bound, and the frontier of *seed*."""
    frame, simulated = pd.DataFrame(rows.of("optimum")), pd.DataFrame(rows.of("floor"))
    free = frame[frame["allowed"] == "no delay"].set_index("seed")["energy_j"]
    bounds = frame[~frame["allowed"].isin(["policy", "frontier"])]
    bounds = bounds.assign(allowed=bounds["allowed"].str.replace("p =", "delivery within (1 + p), p ="))
    columns = {"J/page": ("energy_j", "{:.3f}"), "delay s/page": ("delay_s", "{:.3f}")}
    excess = {
        "excess %": ("excess", "{:.1f}"),
        "excess over the optimum without delay %": ("above", "{:.1f}"),
    }
    floors = _with_excess(simulated, "energy_lower_bound_j", free)
    floor_columns = {**columns, "lower bound J": ("energy_lower_bound_j", "{:.3f}"), **excess}
    chain = _with_excess(frame[frame["allowed"] == "policy"], "least_j", free)
    chain_columns = {**columns, "minimum J at that delay": ("least_j", "{:.3f}"), **excess}
    first = frame["seed"] == seed
    return Findings(
        **study_texts("optimum"),
        setting=f"ucb with its default server delay, mean think time 54.5 s, {len(free)} replications of"
        f" {scale.pages} pages, from seed {seed}",
        remarks=_remarks(frame, simulated, free),
        tables=[
            Table(
                "Simulated energy of each policy, and the lower bound at its page times",
                table_of_means(floors, "policy", floor_columns),
            ),
            Table(
                "Event chain: each policy, and the minimum energy at its total delay",
                table_of_means(chain, "policy", chain_columns),
            ),
            Table(
                "Event chain: offline optimum under a bound on every exchange",
                table_of_means(bounds, "allowed", columns),
            ),
        ],
        figures={"frontier": _frontier(frame[first], simulated[simulated["seed"] == seed])},
    )


def _with_excess(frame: pd.DataFrame, bound: str, free: pd.Series[float]) -> pd.DataFrame:
    """Add the excess of the energy over a *bound*, and over the optimum without delay, in per cent."""
    joules = frame["energy_j"]
    return frame.assign(
        excess=100 * (joules / frame[bound] - 1), above=100 * (joules / frame["seed"].map(free) - 1)
    )


def _remarks(frame: pd.DataFrame, simulated: pd.DataFrame, free: pd.Series[float]) -> list[str]:
    dozing = simulated[simulated["policy"] != "always-on"].groupby("policy")
    joules, delays = dozing["energy_j"].mean(), dozing["delay_s"].mean()
    corners = frame[frame["allowed"] == "frontier"]
    chain_j = corners.groupby("seed")["energy_j"].min().mean()
    relation = "below" if joules.min() < chain_j else "not below"
    excess = simulated["energy_j"] / simulated["energy_lower_bound_j"] - 1
    nearest = simulated["policy"].to_numpy()[excess.argmin()]
    ratios = frame[frame["allowed"] == "policy"].groupby("policy")["delay_s"].mean() / delays
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
        + ", ".join(f"{name} {ratios[name]:.2f}" for name in ("psm", *LPSM))
        + ".",
    ]


def _frontier(frame: pd.DataFrame, simulated: pd.DataFrame) -> pd.DataFrame:
    shown = frame[frame["allowed"].isin(["frontier", "policy"])]
    optima = pd.DataFrame({"kind": shown["allowed"], "label": shown["policy"].fillna("")})
    optima = optima.assign(delay_s=shown["delay_s"], energy_j=shown["energy_j"])
    runs = simulated[["delay_s", "energy_j"]].assign(kind="simulated", label=simulated["policy"])
    bound = simulated[["delay_s"]].assign(kind="floor", label="", energy_j=simulated["energy_lower_bound_j"])
    points = pd.concat([optima, runs, bound.sort_values("delay_s")], ignore_index=True)
    return points[["kind", "label", "delay_s", "energy_j"]]
