"""Preset: trace parameters, policy parameters and topology keys under one name."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import Any

from psm_sim.bundled import bundled, bundled_names
from psm_sim.registry import unknown
from psm_sim.spec import Spec


@dataclass(frozen=True)
class Preset:
    """Defaults that replace the program's own; what the user gives explicitly overrides them."""

    name: str = ""
    description: str = ""
    trace: str = "ucb"
    trace_parameters: dict[str, Any] = field(default_factory=dict)
    policies: dict[str, dict[str, Any]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    def trace_spec(self, trace: str | Spec | None = None, **changes: Any) -> Spec:
        """Return the trace to use where *trace* was given (``None``: nothing was).

        The preset's parameters join a spec of its own trace; any other trace is left as it is. *changes*
        override the preset's; ``None`` takes a parameter back to the trace's own default.
        """
        spec = Spec.of(trace or self.trace, "trace")
        return spec.with_defaults({**self.trace_parameters, **changes} if spec.name == self.trace else {})

    def policy_spec(self, policy: str | Spec) -> Spec:
        """Return *policy* with the preset's parameters of that policy where it gives none."""
        spec = Spec.of(policy, "policy")
        return spec.with_defaults(self.policies.get(spec.name, {}))


def load_preset(name: str) -> Preset:
    """Return a bundled preset.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    names = bundled_names("presets")
    if name not in names:
        raise unknown("preset", name, names)
    table = tomllib.loads((bundled("presets") / f"{name}.toml").read_text(encoding="utf-8"))
    return Preset(name=name, **table)
