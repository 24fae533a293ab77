"""Named configurations: trace parameters, policy parameters and topology keys in one word."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
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
        override the preset's; ``None`` takes a parameter back to the trace's own default.
        """
        spec = spec or self.trace
        name, given = split_spec(spec, "trace")
        if name != self.trace:
            return spec
        return _with_defaults(spec, given, {**self.trace_parameters, **changes})

    def policy_spec(self, spec: str) -> str:
        """Return *spec* with the preset's parameters of that policy where it gives none."""
        name, given = split_spec(spec, "policy")
        return _with_defaults(spec, given, self.policies.get(name, {}))


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


def _with_defaults(spec: str, given: Mapping[str, str], defaults: Mapping[str, Any]) -> str:
    """Append what *spec* does not give; its own text stays as it is, parentheses and all."""
    added = [f"{key}={value}" for key, value in defaults.items() if value is not None and key not in given]
    if not added:
        return spec
    return spec.rstrip(":") + ("," if given else ":") + ",".join(added)
