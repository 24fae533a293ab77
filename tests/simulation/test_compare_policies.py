"""Runs side by side, and what they report."""

from __future__ import annotations

import pytest

from psm_sim.common.errors import InputError
from psm_sim.simulation import Scenario, Summary, compare_runs, simulate


def without_wall_time(result):
    return {key: value for key, value in result.to_dict().items() if key != "wall_s"}


def test_a_run_is_the_same_alone_and_among_others():
    """Common random numbers: no policy disturbs another's pages."""
    alone = simulate("bsd:p=0.5", pages=10, seed=2)
    among = compare_runs(["lpsm", "bsd:p=0.5", "psm"], Scenario(pages=10, seed=2)).runs[1]
    assert without_wall_time(alone) == without_wall_time(among)


@pytest.mark.parametrize("policy", ["always-on", "psm", "bsd:p=0.2", "lpsm"])
def test_reported_energy_is_power_times_time_plus_beacons(policy):
    """And the states' times are the simulated time."""
    run = simulate(policy, pages=20, seed=3)
    total = (
        0.75 * run.time_by_state_s["awake"]
        + 0.05 * run.time_by_state_s["asleep"]
        + 0.0015 * run.beacons_per_page * 20
    )
    assert run.energy_per_page_j * 20 == pytest.approx(total, rel=1e-9)
    assert sum(run.time_by_state_s.values()) == pytest.approx(run.simulated_s, rel=1e-9)
    assert sum(run.energy_by_state_per_page_j.values()) == pytest.approx(run.energy_per_page_j, rel=1e-12)
    traffic = run.traffic
    arrived = traffic.client_received_bytes + traffic.undelivered_bytes + traffic.dropped_bytes
    assert traffic.server_sent_bytes == arrived


def test_pages_are_a_frame_whose_rows_add_up():
    """Energy of the rows is the run's; slowdown is each page's own ratio."""
    run = simulate("psm", pages=12)
    frame = run.pages
    assert len(frame) == 12
    assert frame["energy_j"].sum() == pytest.approx(12 * run.energy_per_page_j)
    assert frame["beacons"].sum() == pytest.approx(12 * run.beacons_per_page)
    assert (frame["page_time_s"] / frame["always_on_time_s"]).mean() == pytest.approx(run.slowdown.mean)


def test_progress_counts_every_page_of_every_run():
    """The always-on run included."""
    seen = []
    compare_runs(["psm", "always-on"], Scenario(pages=4), lambda *state: seen.append(state))
    assert [done for done, _, _ in seen] == [*range(5), *range(4, 9)]  # each run begins with a report
    assert {total for _, total, _ in seen} == {8}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pages": 0}, "pages must be an integer >= 1, got 0"),
        ({"pages": 2.5}, r"pages must be an integer >= 1, got 2\.5"),
        ({"seed": -1}, "seed must be an integer >= 0, got -1"),
        ({"policy": "pms"}, "Unknown policy 'pms'.*Did you mean 'psm'"),
        ({"trace": "ucbs"}, "ucbs"),
        ({"topology": "ring"}, "Unknown topology 'ring'"),
        ({"settings": {"links.wired.latency_ms": "soon"}}, "latency_ms must be a number .*, got 'soon'"),
    ],
)
def test_what_cannot_be_used_is_said_before_anything_runs(arguments, message):
    """One sentence."""
    with pytest.raises(InputError, match=message):
        simulate(**{"policy": "psm", **arguments})
    with pytest.raises(InputError, match="policies must be a non-empty list"):
        compare_runs([])


def test_a_summary_has_four_numbers_and_is_its_mean():
    """Linear quantiles, as NumPy's."""
    summary = Summary.of([1.0, 2.0, 3.0, 10.0])
    assert summary == (4.0, 2.5, pytest.approx(8.95), 10.0)
    assert float(summary) == 4.0


def test_settings_beside_a_topology_already_made_are_refused():
    """They would be ignored otherwise."""
    from psm_sim.network import Topology

    with pytest.raises(InputError, match=r"settings=.* conflicts with a Topology instance"):
        simulate("psm", topology=Topology(), settings={"tcp.initial_window": 4})
