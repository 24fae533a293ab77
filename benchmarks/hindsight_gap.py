"""Where the energy between ``anticipate`` and hindsight goes, in joules per page.

``python benchmarks/hindsight_gap.py`` runs ``anticipate:price_w=5`` over the pages of some seeds and shows
its energy by what the radio did, beside hindsight's best schedule without delay on the same pages. A wait
awake is in vain if the radio dozes at its end before a frame moves. With ``--frontier`` it shows only how
much lies above hindsight's frontier at the delay that the policy itself has.
"""

from __future__ import annotations

import argparse

from psm_sim.common.summary_stats import confidence_interval
from psm_sim.hindsight.offline_optimum import least_energy_j, offline_frontier
from psm_sim.hindsight.traffic_chain import Chain
from psm_sim.hindsight.traffic_chain_recorder import record_chain
from psm_sim.network import Observer, Topology, build_world, run_alone
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.policies import Policy, Poll, Rest, make_policy
from psm_sim.policies.anticipate import Anticipate
from psm_sim.simulation import Scenario, run_comparison


class Parts(dict[str, float]):
    """Joules by what they were spent on."""

    def __missing__(self, _: str) -> float:
        return 0.0

    def add(self, others: Parts) -> None:
        """Add those of others."""
        for name, joules in others.items():
            self[name] += joules


class Spent(Observer):
    """Energy of one policy by what it was spent on, in joules: ``parts``."""

    def begin(self, topology: Topology, policy: Policy) -> None:
        """Take note of the powers, and of the policy whose context counts."""
        if not isinstance(policy, Anticipate):
            raise TypeError("expected anticipate")
        self.policy, self.power, self.parts = policy, topology.power, Parts()
        self.above_w = self.power.awake_w - self.power.asleep_w
        self.awake_s: float | None = 0.0
        self.wait: tuple[float, str] | None = None
        self.context, self.heard = "idle", 0

    def rest(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Begin a wait awake, if it is one."""
        gaps = self.policy._gaps
        self.context = next(iter(gaps.waiting.values()), gaps.idle).context
        self.wait = (time_s, self.context) if rest.awake_s else None

    def radio(self, time_s: float, awake: bool) -> None:
        """Add what was spent awake; a wait that ends in a doze was in vain."""
        if awake:
            self.awake_s = time_s
            return
        self._end(time_s, "in vain")
        self.parts["on the air"] += self.above_w * (time_s - (self.awake_s or 0.0))
        self.awake_s = None

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """End a wait awake."""
        if link.name.startswith("wireless"):
            self._end(queued_s, "for a reply")

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Count beacons by what was awaited."""
        kind = "idle" if self.context.startswith("idle") else "awaiting a reply"
        self.parts[f"beacons, {kind}"] += self.power.beacon_j * count

    def finish(self, time_s: float) -> None:
        """Close what is open, and add the sleep."""
        if self.awake_s is not None:
            self.parts["on the air"] += self.above_w * (time_s - self.awake_s)
        self.parts["asleep, all the time"] = self.power.asleep_w * time_s

    def _end(self, time_s: float, how: str) -> None:
        if self.wait is not None:
            since_s, context = self.wait
            waited_j = self.above_w * max(0.0, time_s - since_s)
            self.parts[f"waiting, {context}, {how}"] += waited_j
            self.parts["on the air"] -= waited_j
            self.wait = None


def best(chain: Chain) -> Parts:
    """Return hindsight's energy without delay by what it is spent on: no schedule has less."""
    parts, now_s = Parts(), 0.0
    above_w = chain.awake_w - chain.asleep_w
    for step in chain.steps:
        due_s = now_s + step.idle_s
        parts["on the air"] += above_w * step.busy_s
        parts["asleep, all the time"] += chain.asleep_w * (step.idle_s + step.busy_s)
        if step.downlink:
            number = chain.beacons.after(due_s) - 1
            by_beacon = chain.beacons.time(number)
            beacon_j = chain.beacon_j + above_w * max(0.0, due_s - by_beacon)
            if number >= chain.beacons.after(now_s) and beacon_j < above_w * step.idle_s:
                parts["beacons, awaiting a reply"] += chain.beacon_j
                parts["waiting"] += beacon_j - chain.beacon_j
            else:
                parts["waiting"] += above_w * step.idle_s
        now_s = due_s + step.busy_s
    return parts


def spent(policy: str, scenario: Scenario) -> Parts:
    """Return the energy of a policy in a scenario by what it is spent on."""
    observer = Spent()
    world = build_world(scenario.resolve_topology(), make_policy(policy), [observer])
    run_alone(world, scenario.workload().pages)
    if abs(sum(observer.parts.values()) - world.usage().total_j) > 1e-6:
        raise ArithmeticError("the parts are not the whole")
    return observer.parts


def above_frontier_j(policy: str, scenario: Scenario) -> float:
    """Return the joules per page above hindsight's frontier at the policy's own mean page time."""
    pages = scenario.pages
    hull = offline_frontier(record_chain(scenario.workload().pages, scenario.resolve_topology()), 24)
    awake, run = run_comparison(["always-on", policy], scenario).runs
    delay_s = max(0.0, run.page_time_s.mean - awake.page_time_s.mean)
    return run.energy_per_page_j - least_energy_j(hull, delay_s * pages) / pages


def main() -> None:
    """Print one line for each use of energy."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--policy", default="anticipate:price_w=5", help="anticipate, with any parameters")
    parser.add_argument("--trace", default="ucb")
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--seeds", type=int, nargs="+", default=[11, 12, 13, 14, 15, 16])
    parser.add_argument("--frontier", action="store_true")
    args = parser.parse_args()
    if args.frontier:
        scenarios = [Scenario(args.trace, pages=args.pages, seed=seed) for seed in args.seeds]
        above = confidence_interval([above_frontier_j(args.policy, scenario) for scenario in scenarios])
        print(f"{args.policy} on {args.trace}: {above:.3f} J per page above hindsight's frontier")
        return
    own, least = Parts(), Parts()
    for seed in args.seeds:
        scenario = Scenario(args.trace, pages=args.pages, seed=seed)
        own.add(spent(args.policy, scenario))
        least.add(best(record_chain(scenario.workload().pages, scenario.resolve_topology())))
    per_page = 1 / (args.pages * len(args.seeds))
    print(f"{args.policy} on {args.trace}, {args.pages} pages of each of seeds {args.seeds}; J per page\n")
    print(f"{'':34}{'policy':>9}{'hindsight':>11}{'more':>9}")
    lines = {name: (own[name] * per_page, least[name] * per_page) for name in sorted({*own, *least})}
    waiting = [pair for name, pair in lines.items() if name.startswith("waiting")]
    lines["all waiting"] = (sum(mine for mine, _ in waiting), sum(its for _, its in waiting))
    lines["all"] = (sum(own.values()) * per_page, sum(least.values()) * per_page)
    for name, (mine, its) in lines.items():
        print(f"{name:34}{mine:9.4f}{its:11.4f}{mine - its:+9.4f}")


if __name__ == "__main__":
    main()
