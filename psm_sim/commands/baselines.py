"""Baselines, reference and first look: what a comparison shows beside the policies asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.component_spec import Spec

if TYPE_CHECKING:
    from psm_sim.simulation import References
    from psm_sim.simulation.preset import Preset

DEFAULT_POLICIES = 10
"""The number of replications where no word at all is given."""


def default_policies() -> list[str]:
    """Return the policies that are compared where no word at all is given, beside the baselines."""
    return ["bsd", "lpsm", "anticipate"]


def make_references(against: str | None, no_baselines: bool, preset: Preset) -> References:
    """Return what stands beside the policies asked for.

    Parameters
    ----------
    against
        The text of the policy that they are compared with; None for psm.
    no_baselines
        Whether the baselines are left out.
    preset
        Its parameters are those of the baselines, too.
    """
    from psm_sim.simulation import BASELINES, References

    baselines = tuple(preset.policy_spec(baseline) for baseline in BASELINES)
    named = [preset.policy_spec(Spec.parse(text, "policy")) for text in filter(None, [against])]
    return References(() if no_baselines else baselines, tuple(named) or baselines[-1:])
