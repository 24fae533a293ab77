"""Beside: the policies that a comparison shows though nobody asked for them, and what savings refer to."""

from __future__ import annotations

from dataclasses import dataclass

from psm_sim.component_spec import Spec
from psm_sim.policies import Policy

PolicyLike = str | Spec | Policy
"""A policy as it is asked for: a text or spec that names it, or one already made."""


@dataclass(frozen=True)
class References:
    """Policies beside those asked for.

    ``baselines`` stand above them; ``against`` has the one that their energy and slowdown are compared
    with, or none.
    """

    baselines: tuple[PolicyLike, ...] = ()
    reference: tuple[PolicyLike, ...] = ()


NO_REFERENCES = References()
"""Nothing stands beside the policies asked for, and nothing is compared."""

BASELINES = (Spec("always-on"), Spec("psm"))
"""No power saving, and the power saving of the standard: what every policy is judged by."""
