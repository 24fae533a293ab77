"""Components by name: ``NAME``, ``NAME:key=value,...`` or ``FILE.py:CLASS:key=value,...``.

A value may hold commas inside parentheses, as a formula does; one wrapped in parentheses as a whole
loses them, so that ``loss=(my.py:Mine:a=1,b=2)`` gives a loss two parameters.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from typing import Any

from psm_sim.errors import InputError, nearest
from psm_sim.parameters import build
from psm_sim.plugins import load_class

_FILE = re.compile(r"(?P<path>(?:[A-Za-z]:[\\/])?[^:]*\.py):(?P<cls>[^:]*)(?::(?P<rest>.*))?", re.DOTALL)


def is_file(spec: str) -> bool:
    """Say whether *spec* names a class in a user's file, ``FILE.py:CLASS``."""
    return _FILE.fullmatch(spec) is not None


def split_spec(spec: str, kind: str) -> tuple[str, dict[str, str]]:
    """Split ``NAME:key=value,...`` into the name and the texts of its parameters."""
    file = _FILE.fullmatch(spec)
    if file:
        name, rest = f"{file['path']}:{file['cls']}", file["rest"] or ""
    else:
        name, _, rest = spec.partition(":")
    return name.strip(), split_parameters(rest, f"{kind} {name}")


def split_parameters(text: str, owner: str) -> dict[str, str]:
    """Split ``key=value,...`` into a dictionary; commas inside parentheses do not separate."""
    values: dict[str, str] = {}
    for part in split_commas(text) if text.strip() else []:
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise InputError(f"{owner}: {part!r} is no parameter; expected key=value, separated by commas.")
        if key.strip() in values:
            raise InputError(f"{owner}: {key.strip()} is given twice; give it once.")
        values[key.strip()] = _unwrapped(value.strip())
    return values


def split_commas(text: str) -> list[str]:
    """Split *text* at the commas that stand outside all parentheses."""
    parts, start, depth = [], 0, 0
    for index, sign in enumerate(text):
        depth = max(0, depth + (sign == "(") - (sign == ")"))
        if sign == "," and not depth:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def _unwrapped(value: str) -> str:
    depth = 0
    for index, sign in enumerate(value):
        depth += (sign == "(") - (sign == ")")
        if not depth and index < len(value) - 1:
            return value
    return value[1:-1] if value.startswith("(") and not depth else value


def unknown(kind: str, name: str, names: list[str]) -> InputError:
    """Return the error for a name that is not in a list, with the nearest one as a hint."""
    return InputError(
        f"There is no {kind} {name!r}; expected one of {', '.join(names)}.{nearest(name, names)}"
    )


class Registry:
    """The components of one kind that can be named; classes are imported when first used.

    *builtin* maps names to ``"module:Class"``; *base* is what a user's own class must derive from.
    """

    def __init__(self, kind: str, base: type, builtin: Mapping[str, str]) -> None:
        self.kind, self.base, self._builtin = kind, base, dict(builtin)

    def names(self) -> list[str]:
        """Return the built-in names."""
        return list(self._builtin)

    def get(self, name: str) -> type:
        """Return the class of a built-in name or of ``FILE.py:CLASS``."""
        file = _FILE.fullmatch(name)
        if file:
            return load_class(file["path"], file["cls"], self.base)
        if name not in self._builtin:
            raise unknown(self.kind, name, [*self.names(), "FILE.py:CLASS"])
        module, _, attribute = self._builtin[name].partition(":")
        found: type = getattr(importlib.import_module(module), attribute)
        return found

    def create(self, spec: str, **given: Any) -> Any:
        """Make the component that *spec* names, its parameters checked; *given* are further values."""
        name, texts = split_spec(spec, self.kind)
        return build(self.get(name), texts, f"{self.kind} {name}", **given)
