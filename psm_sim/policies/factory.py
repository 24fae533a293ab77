"""Registry of the power-save policies, and the names of policies in results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.registry import Registry
from psm_sim.policies.base import Policy

POLICIES: Registry[Policy] = Registry(
    "policy",
    Policy,
    {
        "always-on": "psm_sim.policies.psm:AlwaysOn",
        "psm": "psm_sim.policies.psm:Psm",
        "bsd": "psm_sim.policies.bsd:Bsd",
        "lpsm": "psm_sim.policies.lpsm:Lpsm",
        "dynamic": "psm_sim.policies.dynamic:Dynamic",
        "predict": "psm_sim.policies.predict:Predict",
        "stpm": "psm_sim.policies.stpm:Stpm",
        "share-timeout": "psm_sim.policies.share_timeout:ShareTimeout",
        "adaptive": "psm_sim.policies.adaptive:Adaptive",
        "smart": "psm_sim.policies.smart:Smart",
        "uapsd": "psm_sim.policies.uapsd:Uapsd",
        "twt": "psm_sim.policies.twt:Twt",
        "anticipate": "psm_sim.policies.anticipate:Anticipate",
        "entry": "psm_sim.campaign.benchmark.entry_process:EntryPolicy",
    },
    "psm_sim.policies",
    internal=("entry",),  # the benchmark runs a user-defined policy as "entry"
)
"""Built-in policies by name. A new policy needs one line here."""

make_policy = POLICIES.make
"""Return the policy that a text or spec describes. A policy instance is returned unchanged."""


PolicyLike = str | Spec | Policy | type[Policy]
"""Policy instance, policy class, spec, or spec string."""


def spec_text(policy: PolicyLike) -> str:
    """Return the text of a spec without its label, or the name of a policy instance or class."""
    return policy.name if isinstance(policy, (Policy, type)) else str(Spec.of(policy, "policy"))


def label_of(policy: PolicyLike) -> str:
    """Return the label that the user gave a policy; empty for none."""
    return "" if isinstance(policy, (Policy, type)) else Spec.of(policy, "policy").label


def with_loss(policies: Sequence[Any], loss: str | None) -> list[Any]:
    """Return *policies* with *loss* set in every spec of ``lpsm``, or unchanged if *loss* is None.

    Raises
    ------
    InputError
        If no policy is a spec of ``lpsm``, or if such a spec already sets a loss.
    """
    if loss is None:
        return list(policies)
    specs = [Spec.parse(policy, "policy") if isinstance(policy, str) else policy for policy in policies]
    learners = [spec for spec in specs if isinstance(spec, Spec) and spec.name == "lpsm"]
    if not learners:
        raise InputError(
            f"loss {loss!r} has no effect without an lpsm policy; add the policy lpsm or remove the loss."
        )
    for spec in learners:
        if "loss" in spec.values:
            raise InputError(f"loss {loss!r} conflicts with loss= in {str(spec)!r}; remove one of them.")
    return [spec.with_("loss", loss) if spec in learners else spec for spec in specs]
