"""Names of policies in results."""

from __future__ import annotations

from psm_sim.common.component_spec import Spec
from psm_sim.policies import Policy

PolicyLike = str | Spec | Policy | type[Policy]
"""Policy instance, policy class, spec, or spec string."""


def spec_text(policy: PolicyLike) -> str:
    """Return the spec of a policy without its label, or the name of an instance or class."""
    return policy.name if isinstance(policy, (Policy, type)) else str(Spec.of(policy, "policy"))


def label_of(policy: PolicyLike) -> str:
    """Return the label that the user gave a policy; empty for none."""
    return "" if isinstance(policy, (Policy, type)) else Spec.of(policy, "policy").label
