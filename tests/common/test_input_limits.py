"""Bounds of numeric parameters."""

from __future__ import annotations

from collections.abc import Iterator

from psm_sim.common.parameters import Parameter, parameters_of
from psm_sim.learning.factory import LEARNERS
from psm_sim.losses import LOSSES
from psm_sim.network.topology import SECTIONS
from psm_sim.policies import POLICIES
from psm_sim.simulation import simulate
from psm_sim.workload.page_sampler import PageSampling
from psm_sim.workload.recorded_pages import Playback, RecordingOptions
from psm_sim.workload.recordings.page_grouping import PageRule
from psm_sim.workload.regimes import ShiftingProfile

OTHERS = (PageSampling, PageRule, Playback, ShiftingProfile, RecordingOptions)


def every_parameter() -> Iterator[tuple[str, Parameter]]:
    """Yield each parameter of policies, losses, traces and topologies, with the name of its class."""
    registries = (registry.get(name) for registry in (POLICIES, LOSSES) for name in registry.names())
    sections = (cls for _, cls in SECTIONS.values())
    for cls in (*registries, *OTHERS, *sections):
        yield from ((cls.__name__, parameter) for parameter in parameters_of(cls).values())


def test_every_numeric_parameter_has_an_upper_and_a_lower_bound() -> None:
    """Parameters whose default is none have bounds, too. Texts, choices and Booleans need none."""
    numbers = [
        (owner, parameter)
        for owner, parameter in every_parameter()
        if (isinstance(parameter.default, (int, float)) and not isinstance(parameter.default, bool))
        or (parameter.default is None and parameter.kind is not str)
    ]
    assert len(numbers) > 30
    open_ended = [
        f"{owner}.{parameter.name}"
        for owner, parameter in numbers
        if parameter.at_most is None or (parameter.above is None and parameter.at_least is None)
    ]
    assert open_ended == []
    assert LEARNERS.names()  # learners check their own parameters


def test_the_radio_never_dozes_under_bounded_slowdown_with_p_near_0() -> None:
    result = simulate("bsd:p=1e-300", pages=2)
    assert result.slowdown.max == 1
    assert result["energy_by_state_per_page_j.asleep"] == 0
