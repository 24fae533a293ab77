"""Presets, which are named trace, policy and topology parameters with the evidence for each choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.input_files import bundled_dir, bundled_names, read_toml
from psm_sim.common.parameters import parameters_of
from psm_sim.common.registry import unknown_name_error
from psm_sim.network.topology import check_settings
from psm_sim.policies import POLICIES

CALIBRATES, FITTED, PREDICTED = ROLES = ("calibrates", "fitted", "predicted")
"""Role of a published number for a preset: it calibrated the preset, it influenced a choice, or neither."""


@dataclass(frozen=True)
class Choice:
    """Choice of a preset that no source states, with its history.

    Attributes
    ----------
    choice : str
        Name of the parameter.
    looked_at : tuple of str
        Published numbers that the choice is based on, as ``STUDY/POLICY/QUANTITY`` with ``*`` as a
        wildcard.
    tried : tuple of str
        Values that were tried.
    seeds : str
        Seeds of the runs that the choice is based on.
    values : mapping of str to float
        Value of the parameter in each study, if it is calibrated.
    """

    choice: str
    looked_at: tuple[str, ...]
    tried: tuple[str, ...] = ()
    seeds: str = ""
    values: Mapping[str, float] = field(default_factory=dict)

    def used(self, number: str) -> bool:
        """Return whether the choice is based on a published number, ``STUDY/POLICY/QUANTITY``."""
        return any(fnmatchcase(number, pattern) for pattern in self.looked_at)


@dataclass(frozen=True)
class Preset:
    """Defaults that replace those of the program. Explicit arguments override them.

    ``calibrated`` and ``fitted`` are choices that no source states. ``evidence`` are the statements for the
    preset, ``doubts`` those against it.
    """

    name: str = ""
    description: str = ""
    trace: str = "ucb"
    trace_parameters: dict[str, Any] = field(default_factory=dict)
    policies: dict[str, dict[str, Any]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    calibrated: tuple[Choice, ...] = ()
    fitted: tuple[Choice, ...] = ()
    evidence: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    def trace_spec(self, trace: str | Spec | None = None, **changes: Any) -> Spec:
        """Return the trace spec for the argument *trace*; None uses the trace of the preset.

        The parameters of the preset apply to its own trace only. *changes* override them. The value None
        restores the default of the trace.
        """
        spec = Spec.of(trace or self.trace, "trace")
        return spec.with_defaults({**self.trace_parameters, **changes} if spec.name == self.trace else {})

    def policy_spec(self, policy: str | Spec) -> Spec:
        """Return *policy* with the preset's parameters for it as defaults.

        Those that *policy* leaves without effect are omitted.
        """
        spec = Spec.of(policy, "policy")
        defaults = self.policies.get(spec.name, {})
        if not defaults or not spec.items:
            return spec.with_defaults(defaults)
        parameters = parameters_of(POLICIES.get(spec.name))
        values = {name: each.default for name, each in parameters.items()} | defaults | spec.values
        conditions = {name: each.requires for name, each in parameters.items()}
        acting = {
            name: value
            for name, value in defaults.items()
            if (condition := conditions.get(name)) is None or condition.is_met(values)
        }
        return spec.with_defaults(acting)

    def calibration(self, study: str) -> dict[str, float]:
        """Return the calibrated parameters of a study, by name."""
        return {choice.choice: choice.values[study] for choice in self.calibrated if study in choice.values}

    def role(self, number: str) -> str:
        """Return the role of a published number, ``STUDY/POLICY/QUANTITY``, as one of :data:`ROLES`."""
        for role, choices in ((CALIBRATES, self.calibrated), (FITTED, self.fitted)):
            if any(choice.used(number) for choice in choices):
                return role
        return PREDICTED

    def note(self) -> str:
        """Return a one-line note on the choices based on published numbers, or '' if there are none."""
        notes = [
            f"{', '.join(choice.choice for choice in choices)} {verb}"
            f" {', '.join(dict.fromkeys(pattern for choice in choices for pattern in choice.looked_at))}"
            for verb, choices in (("fitted to", self.fitted), ("calibrated to", self.calibrated))
            if choices
        ]
        return f"preset {self.name}: {'; '.join(notes)}" if notes else ""

    def history(self) -> dict[str, Any]:
        """Return all choices with the numbers that they are based on, as plain values."""
        return {
            "description": self.description,
            **{
                role: [_plain(choice) for choice in choices]
                for role, choices in (("calibrated", self.calibrated), (FITTED, self.fitted))
            },
            "for": list(self.evidence),
            "against": list(self.doubts),
        }


def load_preset(name: str) -> Preset:
    """Load a bundled preset, or a preset file whose name ends in ``.toml``.

    Raises
    ------
    InputError
        If the preset does not exist or is invalid.
    """
    path = Path(name) if name.endswith(".toml") else bundled_dir("presets") / f"{name}.toml"
    names = bundled_names("presets")
    if not name.endswith(".toml") and name not in names:
        raise unknown_name_error("preset", name, [*names, "FILE.toml"])
    table = read_toml(path, "preset")
    _check_tables(table, path)
    check_settings(table.get("settings", {}), str(path))
    for key in ("calibrated", "fitted"):
        table[key] = tuple(_choice(entry, f"{path}: {key}") for entry in table.get(key, ()))
    for key in ("evidence", "doubts"):
        table[key] = tuple(table.get(key, ()))
    return Preset(name=name, **table)


def _check_tables(table: Mapping[str, Any], path: Path) -> None:
    """Reject unknown keys and values of a wrong type."""
    keys = {key.name: key for key in fields(Preset) if key.name != "name"}
    for key, value in table.items():
        if key not in keys:
            raise InputError(f"{path}: unknown preset key {key!r}; expected {', '.join(keys)}.")
        expected: type = str if key in _STRINGS else list if key in _LISTS else dict
        parts = value.values() if key == "policies" and isinstance(value, dict) else ()
        if not isinstance(value, expected) or not all(isinstance(part, dict) for part in parts):
            raise InputError(f"{path}: {key} must be {_KINDS[expected]}, got {value!r}.")


_STRINGS = ("description", "trace")
_LISTS = ("calibrated", "fitted", "evidence", "doubts")
_KINDS: dict[type, str] = {
    str: "a string",
    list: "a list",
    dict: "a table (for policies: a table of tables)",
}


def _choice(entry: Any, where: str) -> Choice:
    if not isinstance(entry, dict) or "choice" not in entry:
        raise InputError(f"{where} must be tables with the key 'choice', got {entry!r}.")
    valid = [key.name for key in fields(Choice)]
    for key in entry:
        if key not in valid:
            raise InputError(f"{where}: {unknown_name_error('key', key, valid)}")
    values: dict[str, Any] = dict(entry)
    for key in ("looked_at", "tried"):
        values[key] = tuple(values.get(key, ()))
    return Choice(**values)


def _plain(choice: Choice) -> dict[str, Any]:
    facts = {"choice": choice.choice, "looked_at": list(choice.looked_at), "tried": list(choice.tried)}
    return {**facts, "seeds": choice.seeds, **({"values": dict(choice.values)} if choice.values else {})}
