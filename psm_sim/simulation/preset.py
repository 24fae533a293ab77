"""Presets: trace, policy and topology parameters under one name, and what each choice was made by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from psm_sim.bundled_files import bundled_dir, bundled_names
from psm_sim.component_spec import Spec
from psm_sim.errors import InputError
from psm_sim.files.toml import read_toml
from psm_sim.registry import unknown_name_error

CALIBRATES, FITTED, PREDICTED = ROLES = ("calibrates", "fitted", "predicted")
"""What a published number was to a preset: used to scale it, looked at when it was chosen, or neither."""


@dataclass(frozen=True)
class Choice:
    """One choice of a preset that no source states, and its history.

    ``looked_at`` are the published numbers that it was made by, as ``STUDY/POLICY/QUANTITY`` with ``*`` for
    any text; ``tried`` the values that were tried, ``seeds`` those of the runs looked at; ``values`` the
    parameter's value in each study, where that is calibrated.
    """

    choice: str
    looked_at: tuple[str, ...]
    tried: tuple[str, ...] = ()
    seeds: str = ""
    values: Mapping[str, float] = field(default_factory=dict)

    def used(self, number: str) -> bool:
        """Say whether the choice was made by a published number, ``STUDY/POLICY/QUANTITY``."""
        return any(fnmatchcase(number, pattern) for pattern in self.looked_at)


@dataclass(frozen=True)
class Preset:
    """Defaults that replace the program's own; what the user gives explicitly overrides them.

    ``calibrated`` and ``fitted`` are its choices that no source states; ``evidence`` are the sentences for
    it, ``doubts`` those against it.
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

    def calibration(self, study: str) -> dict[str, float]:
        """Return the calibrated parameters of a study, by name."""
        return {each.choice: each.values[study] for each in self.calibrated if study in each.values}

    def role(self, number: str) -> str:
        """Return which of :data:`ROLES` a published number, ``STUDY/POLICY/QUANTITY``, has for it."""
        for role, choices in ((CALIBRATES, self.calibrated), (FITTED, self.fitted)):
            if any(choice.used(number) for choice in choices):
                return role
        return PREDICTED

    def note(self) -> str:
        """Return in one sentence what was chosen by looking at published numbers; '' if nothing was."""
        told = [
            f"{', '.join(each.choice for each in choices)} {word}"
            f" {', '.join(dict.fromkeys(pattern for each in choices for pattern in each.looked_at))}"
            for word, choices in (("fitted to", self.fitted), ("calibrated to", self.calibrated))
            if choices
        ]
        return f"preset {self.name}: {'; '.join(told)}" if told else ""

    def history(self) -> dict[str, Any]:
        """Return every choice with what it was made by, as plain values."""
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
    """Return a bundled preset, or that of a file whose name ends in ``.toml``.

    Raises
    ------
    InputError
        If there is none of that name, or the file cannot be used.
    """
    path = Path(name) if name.endswith(".toml") else bundled_dir("presets") / f"{name}.toml"
    names = bundled_names("presets")
    if not name.endswith(".toml") and name not in names:
        raise unknown_name_error("preset", name, [*names, "FILE.toml"])
    table = read_toml(path, "preset")
    _check_tables(table, path)
    for key in ("calibrated", "fitted"):
        table[key] = tuple(map(_choice, table.get(key, ())))
    for key in ("evidence", "doubts"):
        table[key] = tuple(table.get(key, ()))
    return Preset(name=name, **table)


def _check_tables(table: Mapping[str, Any], path: Path) -> None:
    """Refuse a key that no preset has, or a value of another kind than a preset's."""
    known = {each.name: each for each in fields(Preset) if each.name != "name"}
    for key, value in table.items():
        if key not in known:
            raise InputError(f"{path}: {key!r} is no key of a preset; expected {', '.join(known)}.")
        wanted: type = str if key in _TEXTS else list if key in _LISTS else dict
        nested = key != "policies" or all(isinstance(each, dict) for each in value.values())
        if not isinstance(value, wanted) or not nested:
            raise InputError(f"{path}: {key} is {value!r}; expected {_KINDS[wanted]}.")


_TEXTS = ("description", "trace")
_LISTS = ("calibrated", "fitted", "evidence", "doubts")
_KINDS: dict[type, str] = {
    str: "a text",
    list: "a list",
    dict: "a table, each value of which is a table for policies",
}


def _choice(entry: Mapping[str, Any]) -> Choice:
    values: dict[str, Any] = dict(entry)
    for key in ("looked_at", "tried"):
        values[key] = tuple(values.get(key, ()))
    return Choice(**values)


def _plain(choice: Choice) -> dict[str, Any]:
    facts = {"choice": choice.choice, "looked_at": list(choice.looked_at), "tried": list(choice.tried)}
    return {**facts, "seeds": choice.seeds, **({"values": dict(choice.values)} if choice.values else {})}
