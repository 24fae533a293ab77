"""Named configurations: trace parameters, policy parameters and topology keys in one word."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import Any

from psm_sim.bundled import bundled, bundled_names
from psm_sim.registry import split_spec, unknown


@dataclass(frozen=True)
class Preset:
    """Defaults that take the place of the program's own; whatever is given explicitly overrides them."""

    name: str = ""
    description: str = ""
    trace: str = "ucb"
    trace_parameters: dict[str, Any] = field(default_factory=dict)
    policies: dict[str, dict[str, Any]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    def trace_spec(self, spec: str | None = None, **changes: Any) -> str:
        """Return the trace to use where *spec* was given (``None``: nothing was).

        The preset's parameters join a spec of its own trace; any other trace is left as it is. *changes*
        override both; ``None`` takes a parameter back to the trace's own default.
        """
        name, given = split_spec(spec or self.trace, "trace")
        if name != self.trace:
            return spec or self.trace
        values = {**self.trace_parameters, **given, **changes}
        return _spec(name, {key: value for key, value in values.items() if value is not None})

    def policy_spec(self, spec: str) -> str:
        """Return *spec* with the preset's parameters of that policy where it gives none."""
        name, given = split_spec(spec, "policy")
        added = {key: value for key, value in self.policies.get(name, {}).items() if key not in given}
        return _spec(name, {**given, **added}) if added else spec


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


def _spec(name: str, values: dict[str, Any]) -> str:
    return name + (":" + ",".join(f"{key}={value}" for key, value in values.items()) if values else "")
