"""Observer and timeline: what the radio does while one page is loaded.

An observer is told what happens in a run and changes nothing. It overrides the methods it needs;
here it keeps each change of the radio's state, each beacon heard, and the end of each page. Any
number of observers can watch a run; the energy of every run is counted by one.

Run it:                python examples/05-observer-timeline.py
Write its output anew: python examples/05-observer-timeline.py > examples/05-observer-timeline.txt
"""

from psm_sim.network import Observer, build_world, load_topology, run_alone
from psm_sim.network.browser import Visit
from psm_sim.policies import make_policy
from psm_sim.workload import load_workload


class Timeline(Observer):
    """Keeps what happened, as pairs of a time in seconds and words."""

    def __init__(self) -> None:
        self.events: list[tuple[float, str]] = []

    def radio(self, time_s: float, awake: bool) -> None:
        """Keep a change of state."""
        self.events.append((time_s, "wakes" if awake else "begins to doze"))

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Keep beacons heard; beacons that named nobody come as one call."""
        last_s = first_s + (count - 1) * every_s
        many = f"{count} beacons, the last at {last_s:.3f} s" if count > 1 else "a beacon"
        self.events.append((first_s, f"hears {many}"))

    def page(self, visit: Visit) -> None:
        """Keep the end of a page."""
        self.events.append((visit.ended_s, f"page of {visit.page.objects} objects is complete"))


def main() -> None:
    """Load two pages under static PSM and print the first part of the timeline."""
    timeline = Timeline()
    world = build_world(load_topology("three-node"), make_policy("psm"), [timeline])
    run_alone(world, load_workload("ucb", pages=2, seed=1).pages)

    # What an idle radio does is told when something next happens to it, so the events are sorted.
    for time_s, words in sorted(timeline.events)[:24]:
        print(f"{time_s:9.3f} s  {words}")
    print("...")
    usage = world.usage()
    print(f"{usage.awake_s:.3f} s awake, {usage.asleep_s:.3f} s asleep, {usage.beacons} beacons")
    print(f"{usage.awake_j:.3f} J awake, {usage.asleep_j:.3f} J asleep, {usage.beacons_j:.3f} J for beacons")


if __name__ == "__main__":
    main()
