"""Study of contention and of EAPS: a small run, and the interpretations that were fixed before it."""

from __future__ import annotations

import pandas as pd
import pytest
from psm_lab.reporting.pages.introductions import introduction_of
from psm_lab.studies import field, load_study
from psm_lab.studies.study import FULL, QUICK, Scale
from psm_lab.studies.study_runner import reproduce

from psm_sim.simulation import Scenario


@pytest.fixture(scope="module")
def findings():
    """Return the findings of two replications with few neighbors, policies and pages."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(field, "FRAME_POLICIES", ("psm", "bsd:p=1", "lpsm"))
        patched.setattr(field, "_seconds", lambda _: 1.0)
        patched.setattr(field, "_pages", lambda _: 2)
        (findings,) = reproduce({"field": load_study("field")}, Scale(2, 2, 2), workers=1)
        return findings


def test_every_published_number_has_a_predicted_value_and_a_verdict(findings):
    """Four numbers are on contention; EAPS has two claims on each kind of traffic."""
    assert len(findings.claims) == 4 + 2 * len(field.DEVICE_CASES)
    assert {claim.role for claim in findings.claims} == {"predicted"}
    assert {claim.verdict for claim in findings.claims} <= {"agrees", "differs", "undecided"}
    assert findings.provisional


def test_a_station_with_20_neighbors_is_awake_longer_than_a_single_station(findings):
    cells = findings.tables[0].frame.set_index(["neighbors", "transport"])["awake, ms per s"]
    assert float(cells[20, "tcp"].split()[0]) > float(cells[0, "tcp"].split()[0])
    assert len(cells) == len(field.CELLS)


def test_the_neighbors_together_offer_the_saturation_load():
    """The load does not depend on the number of neighbors."""
    for neighbors in (10, 20):
        task = next(
            task for task in field.contention_tasks([1], 20.0) if task.labels["neighbors"] == neighbors
        )
        _, spec = task.arguments["scenario"].resolve_topology().stations
        load = Scenario(str(spec.trace), pages=1).workload()
        assert 8 * 1024 * len(load.messages) * neighbors / 20.0 == pytest.approx(65e6, rel=0.01)


def test_two_policies_swap_ranks_if_the_energy_per_frame_reverses_their_order():
    """The first policy needs less energy but more frames than the second; the third differs by noise."""
    rows = [
        {"seed": seed, "policy": policy, "radio_j": radio_j + 0.001 * seed, "frames": frames}
        for seed in (1, 2, 3)
        for policy, radio_j, frames in (
            ("few", 1.1, 10),
            ("many", 1.0, 1000),
            ("same", 1.1 + 0.001 * (seed - 2), 9),
        )
    ]
    frame = pd.DataFrame(rows)
    assert field.swapped_pairs(frame, 0.0) == []
    assert ("few", "many", True) in field.swapped_pairs(frame, 0.2)


def test_the_report_states_rule_and_sources(findings):
    """Sources without usable numbers are listed, too."""
    assert "no value was fitted" in introduction_of(["field"]).text
    assert "Venkateswaran" in findings.tables[-1].frame["source"][0]
    assert (findings.tables[-1].frame["judged"].str.startswith("nothing")).sum() == 4


def test_the_full_study_judges_on_seeds_that_were_used_for_no_choice():
    """The quick study uses other seeds."""
    assert list(field._seeds(FULL, 1)) == list(range(101, 109))
    assert list(field._seeds(QUICK, 1)) == [1, 2]
    assert (field._seconds(FULL), field._pages(FULL)) == (10.0, 50)
