"""Runs side by side, and what they report."""

from __future__ import annotations

import pytest

from psm_sim.common.errors import InputError
from psm_sim.simulation import Scenario, compare_runs, simulate


def without_wall_time(result):
    return {key: value for key, value in result.to_dict().items() if key != "wall_s"}


def test_a_run_is_the_same_alone_and_among_others():
    """Common random numbers: no policy disturbs another's pages."""
    alone = simulate("bsd:p=0.5", pages=10, seed=2)
    among = compare_runs(["lpsm", "bsd:p=0.5", "psm"], Scenario(pages=10, seed=2)).runs[1]
    assert without_wall_time(alone) == without_wall_time(among)


def test_pages_are_a_frame_whose_rows_add_up():
    """Energy of the rows is the run's; slowdown is each page's own ratio."""
    run = simulate("psm", pages=12)
    frame = run.pages
    assert len(frame) == 12
    assert frame["energy_j"].sum() == pytest.approx(12 * run.energy_per_page_j)
    assert frame["beacons"].sum() == pytest.approx(12 * run.beacons_per_page)
    assert (frame["page_time_s"] / frame["always_on_time_s"]).mean() == pytest.approx(run.slowdown.mean)


def test_progress_counts_every_page_of_every_run():
    seen = []
    compare_runs(["psm", "always-on"], Scenario(pages=4), lambda *state: seen.append(state))
    assert [done for done, _, _ in seen] == [*range(5), *range(4, 9)]  # each run begins with a report
    assert {total for _, total, _ in seen} == {8}


def test_no_policy_is_nothing_to_compare():
    with pytest.raises(InputError, match="policies must be a non-empty list"):
        compare_runs([])


def test_settings_beside_a_topology_already_made_are_refused():
    """They would be ignored otherwise."""
    from psm_sim.network import Topology

    with pytest.raises(InputError, match=r"settings=.* conflicts with a Topology instance"):
        simulate("psm", topology=Topology(), settings={"tcp.initial_window": 4})
