"""From a name or a user's file to a policy."""

from __future__ import annotations

from psm_sim.policies.base import Policy
from psm_sim.registry import Registry

POLICIES = Registry(
    "policy",
    Policy,
    {
        "always-on": "psm_sim.policies.always_on:AlwaysOn",
        "psm": "psm_sim.policies.psm:Psm",
        "bsd": "psm_sim.policies.bsd:Bsd",
        "lpsm": "psm_sim.policies.lpsm:Lpsm",
    },
)
"""The policies that have a name; a new one is a line here."""


def make_policy(what: str | Policy) -> Policy:
    """Return the policy that *what* names: ``NAME`` or ``FILE.py:CLASS``, with ``:key=value,...``.

    A policy already made is returned as it is.

    Raises
    ------
    InputError
        If there is no such policy, or one of its parameters is wrong.
    """
    if isinstance(what, Policy):
        return what
    policy: Policy = POLICIES.create(what)
    return policy
