"""Baselines and reference policy of a comparison."""

from __future__ import annotations

from dataclasses import dataclass

from psm_sim.common.component_spec import Spec
from psm_sim.policies import Policy

PolicyLike = str | Spec | Policy
"""Policy instance, spec, or spec string."""


@dataclass(frozen=True)
class References:
    """Additional policies of a comparison.

    Attributes
    ----------
    baselines : tuple of PolicyLike
        Policies that precede the compared ones in tables.
    reference : tuple of PolicyLike
        The policy that energy and slowdown are compared with, or an empty tuple.
    """

    baselines: tuple[PolicyLike, ...] = ()
    reference: tuple[PolicyLike, ...] = ()


NO_REFERENCES = References()
"""No baselines and no reference policy."""

BASELINES = (Spec("always-on"), Spec("psm"))
"""The baselines: no power saving, and static power-save mode of the standard."""
