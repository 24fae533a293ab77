"""Default policies, baselines and reference policy of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.common.component_spec import Spec

if TYPE_CHECKING:
    from psm_sim.simulation import References
    from psm_sim.simulation.preset import Preset

DEFAULT_POLICIES = 10
"""Number of replications of a run without arguments."""


def default_policies() -> list[str]:
    """Return the policies of a run without arguments, in addition to the baselines."""
    return ["bsd", "lpsm", "anticipate"]


def make_references(against: str | None, no_baselines: bool, preset: Preset) -> References:
    """Return the baselines and the reference policy of a comparison.

    Parameters
    ----------
    against : str or None
        Spec of the reference policy; None selects psm.
    no_baselines : bool
        Whether to omit the baselines.
    preset : Preset
        Preset whose policy parameters also apply to the baselines and the reference.
    """
    from psm_sim.simulation import BASELINES, References

    baselines = tuple(preset.policy_spec(baseline) for baseline in BASELINES)
    reference = [preset.policy_spec(Spec.parse(text, "policy")) for text in filter(None, [against])]
    return References(() if no_baselines else baselines, tuple(reference) or baselines[-1:])
