"""Bounds: every number has an upper and a lower one."""

from __future__ import annotations

from collections.abc import Iterator

from psm_sim.common.parameters import Parameter, parameters_of
from psm_sim.learning.factory import LEARNERS
from psm_sim.losses import LOSSES
from psm_sim.policies import POLICIES
from psm_sim.simulation import simulate
from psm_sim.workload.page_sampler import PageSampling
from psm_sim.workload.recorded_pages import Playback, RecordingOptions
from psm_sim.workload.recordings.page_grouping import PageRule
from psm_sim.workload.regimes import ShiftingProfile

OTHERS = (PageSampling, PageRule, Playback, ShiftingProfile, RecordingOptions)


def every_parameter() -> Iterator[tuple[str, Parameter]]:
    """Yield each parameter of the policies, losses and traces, with the name of its class."""
    registries = (registry.get(name) for registry in (POLICIES, LOSSES) for name in registry.names())
    for cls in (*registries, *OTHERS):
        yield from ((cls.__name__, each) for each in parameters_of(cls).values())


def test_every_number_has_an_upper_and_a_lower_bound() -> None:
    """Also one that is given as none by default; texts, choices and truth values have no need of them."""
    numbers = [
        (owner, each)
        for owner, each in every_parameter()
        if (isinstance(each.default, (int, float)) and not isinstance(each.default, bool))
        or (each.default is None and each.kind is not str)
    ]
    assert len(numbers) > 30
    open_ended = [
        f"{owner}.{each.name}"
        for owner, each in numbers
        if each.at_most is None or (each.above is None and each.at_least is None)
    ]
    assert open_ended == []
    assert LEARNERS.names()  # theirs are checked by the learners themselves


def test_a_bound_too_small_for_any_doze_is_a_radio_that_never_dozes() -> None:
    """Bounded Slowdown with p near 0."""
    result = simulate("bsd:p=1e-300", pages=2)
    assert result.slowdown.max == 1
    assert result["energy_by_state_per_page_j.asleep"] == 0
