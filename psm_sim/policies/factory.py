"""Registry of the power-save policies."""

from __future__ import annotations

from psm_sim.common.registry import Registry
from psm_sim.policies.base import Policy

POLICIES: Registry[Policy] = Registry(
    "policy",
    Policy,
    {
        "always-on": "psm_sim.policies.always_on:AlwaysOn",
        "psm": "psm_sim.policies.psm:Psm",
        "bsd": "psm_sim.policies.bsd:Bsd",
        "lpsm": "psm_sim.policies.lpsm:Lpsm",
        "outstanding": "psm_sim.policies.outstanding:OutstandingPolicy",
        "listen": "psm_sim.lab.policies.beacon_listening:Listen",
        "dynamic": "psm_sim.policies.dynamic:Dynamic",
        "skip": "psm_sim.policies.skip:Skip",
        "predict": "psm_sim.policies.predict:Predict",
        "stpm": "psm_sim.policies.stpm:Stpm",
        "uapsd": "psm_sim.policies.uapsd:Uapsd",
        "twt": "psm_sim.policies.twt:Twt",
        "anticipate": "psm_sim.policies.anticipate:Anticipate",
    },
    "psm_sim.policies",
)
"""Built-in policies by name. A new policy needs one line here."""

make_policy = POLICIES.make
"""Return the policy that a text or spec describes. A policy instance is returned unchanged."""
