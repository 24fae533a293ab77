"""Record the states of the radio during a page load with an observer.

A run calls the methods of its observers at each event. An observer overrides the methods it needs,
and must not change the run. This observer records each change of the radio's state, each beacon
received, and the end of each page. A run accepts any number of observers.

Run:               python examples/05-observer-timeline.py
Renew the output:  python examples/05-observer-timeline.py > examples/05-observer-timeline.txt
"""

from psm_sim.network import Observer, build_world, load_topology, run_alone
from psm_sim.network.browser import Visit
from psm_sim.policies import make_policy
from psm_sim.workload import load_workload


class Timeline(Observer):
    """Record events as pairs of a time in seconds and a description."""

    def __init__(self) -> None:
        self.events: list[tuple[float, str]] = []

    def radio(self, time_s: float, awake: bool) -> None:
        """Record a change of the radio's state."""
        self.events.append((time_s, "wakes" if awake else "begins to doze"))

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Record beacons received. One call reports all consecutive beacons without traffic."""
        last_s = first_s + (count - 1) * every_s
        beacons = f"{count} beacons, the last at {last_s:.3f} s" if count > 1 else "a beacon"
        self.events.append((first_s, f"receives {beacons}"))

    def page(self, visit: Visit) -> None:
        """Record the end of a page load."""
        self.events.append((visit.ended_s, f"page of {visit.page.objects} objects is complete"))


def main() -> None:
    """Load two pages under static PSM and print the first part of the timeline."""
    timeline = Timeline()
    world = build_world(load_topology("three-node"), make_policy("psm"), [timeline])
    run_alone(world, load_workload("ucb", pages=2, seed=1).pages)

    # The simulator reports the beacons of an idle radio late, at its next event, so the list is sorted.
    for time_s, event in sorted(timeline.events)[:24]:
        print(f"{time_s:9.3f} s  {event}")
    print("...")
    usage = world.usage()
    print(f"{usage.awake_s:.3f} s awake, {usage.asleep_s:.3f} s asleep, {usage.beacons} beacons")
    print(f"{usage.awake_j:.3f} J awake, {usage.asleep_j:.3f} J asleep, {usage.beacons_j:.3f} J for beacons")


if __name__ == "__main__":
    main()
