"""Study of the channel model: a small run, and its required results."""

from __future__ import annotations

import pytest
from psm_lab.studies import link_against_mac as study_of_air
from psm_lab.studies import load_study
from psm_lab.studies.study import Scale
from psm_lab.studies.study_runner import reproduce


@pytest.fixture(scope="module")
def findings():
    """Return the findings of one replication of few pages, and of few further policies."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(study_of_air, "POLICIES", ("always-on", "psm", "bsd:p=1"))
        (findings,) = reproduce({"mac": load_study("mac")}, Scale(1, 4, 4), workers=1)
        return findings


def test_every_published_headline_number_has_a_value_under_each_model(findings):
    """The numbers are 12 of 100 pages, 5 of 4 x 500 pages, and 7 of Bounded Slowdown."""
    numbers = findings.tables[0].frame
    assert numbers["study"].value_counts().to_dict() == {"lpsm-100": 12, "lpsm-4x500": 5, "bsd-energy": 7}
    assert list(numbers.columns[-4:]) == list(study_of_air.MODELS)
    assert numbers.notna().all(axis=None)


def test_a_station_under_static_psm_is_awake_longer_with_a_channel_model(findings):
    """A frame takes a PS-Poll, an ACK and contention; a link delivers all frames at once at 5 Mbit/s."""
    means = findings.tables[1].frame
    psm = means[means["policy"] == "psm"].set_index("model")["awake_j"]
    assert float(psm["channel, TIM bit kept"].split()[0]) > 1.3 * float(psm["link, 100 TU"].split()[0])
    assert len(findings.remarks) == 2
