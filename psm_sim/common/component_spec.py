"""Component specs: a name and its parameters, written ``NAME:key=value,...``.

The name may also be a class in a user's file, ``FILE.py:CLASS``, or the file of a trace. A value may
contain commas inside parentheses, as a formula does. Parentheses around a whole value are removed, so
that ``loss=(my.py:Mine:a=1,b=2)`` passes two parameters to a loss. Every policy accepts ``label=TEXT``, which
names its results and does not change them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from psm_sim.common.errors import InputError

_LABEL = "label"

_DRIVE = r"(?:[A-Za-z]:[\\/])?"
_CLASS = re.compile(rf"(?P<path>{_DRIVE}[^:]*\.[pP][yY]):(?P<cls>[^:]*)(?::(?P<rest>.*))?", re.DOTALL)
_PLAIN = re.compile(rf"(?P<name>{_DRIVE}[^:]*):?(?P<rest>.*)", re.DOTALL)
_WITH_PARAMETERS = re.compile(r"(?P<name>.*?):(?P<rest>\s*[A-Za-z_]\w*\s*=.*)", re.DOTALL)


@dataclass(frozen=True)
class Spec:
    """Name of a component and its parameters as strings.

    Two specs are equal if their names and items are equal. ``str()`` returns the text that :meth:`parse`
    reads, without the label.

    Attributes
    ----------
    name : str
        Name of the component, ``FILE.py:CLASS``, or the file of a trace.
    items : tuple of (str, str)
        Pairs (key, value as text), in the order of the text.
    label : str
        Name of a policy in tables and figures; empty for none.
    """

    name: str
    items: tuple[tuple[str, str], ...] = ()
    label: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text: str, kind: str) -> Spec:
        """Parse a spec.

        Parameters
        ----------
        text : str
            ``NAME``, ``FILE.py:CLASS`` or, for a trace, ``FILE``, optionally followed by
            ``:key=value,...``.
        kind : str
            Kind of component, for error messages: ``"policy"``, ``"loss"``, ``"learner"`` or
            ``"trace"``. The file of a trace may have colons in its path.

        Raises
        ------
        InputError
            If a parameter is not ``key=value``, or appears twice.
        """
        name, rest = _split(text, kind)
        values = _parse_items(rest, f"{kind} {name}")
        label = values.pop(_LABEL, "") if kind == "policy" else ""
        return cls(name, tuple(values.items()), label)

    @classmethod
    def of(cls, spec: str | Spec, kind: str) -> Spec:
        """Return *spec*, parsed if it is a string; see :meth:`parse` for *kind* and the errors."""
        if isinstance(spec, Spec):
            return spec
        if not isinstance(spec, str):
            raise InputError(f"{kind} must be a string such as NAME or NAME:key=value, got {spec!r}.")
        return cls.parse(spec, kind)

    @property
    def values(self) -> dict[str, str]:
        """Parameters as a new dictionary of strings."""
        return dict(self.items)

    def with_(self, key: str, value: object) -> Spec:
        """Return a copy in which *key* has *value*; a new key is appended.

        *value* is converted with ``str()``. Parentheses around the whole value are removed.
        """
        values = {**self.values, key: strip_parentheses(str(value).strip())}
        return Spec(self.name, tuple(values.items()), self.label)

    def with_defaults(self, values: Mapping[str, object]) -> Spec:
        """Return a copy with *values* for the keys that this spec lacks, except None values."""
        spec = self
        for key, value in values.items():
            if value is not None and key not in self.values:
                spec = spec.with_(key, value)
        return spec

    def files(self) -> list[Path]:
        """Return the existing files that this spec names, also in specs inside its values.

        The modules that a user's file imports from its folder are included.
        """
        return [path for text in (self.name, *self.values.values()) for path in _files(text)]

    def __str__(self) -> str:
        parts = [f"{key}={_parenthesize(value)}" for key, value in self.items]
        return f"{self.name}:{','.join(parts)}" if parts else self.name


def class_file(name: str) -> tuple[str, str] | None:
    """Return the path and the class name if *name* is ``FILE.py:CLASS``, else None."""
    match = _CLASS.fullmatch(name)
    return (match["path"], match["cls"]) if match else None


def name_of(text: str, kind: str) -> str:
    """Return the name in *text*, without the parameters; see :meth:`Spec.parse` for *kind*."""
    return _split(text, kind)[0]


def split_commas(text: str) -> list[str]:
    """Split *text* at the commas outside parentheses."""
    parts, start, depth = [], 0, 0
    for index, character in enumerate(text):
        depth = max(0, depth + (character == "(") - (character == ")"))
        if character == "," and not depth:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def path_exists(name: str) -> bool:
    """Return whether a file or folder *name* exists. Return False for an invalid file name."""
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False


def _split(text: str, kind: str) -> tuple[str, str]:
    """Return the name and the text of the parameters."""
    if kind == "trace":  # paths of traces may contain colons and have no fixed extension
        if path_exists(text):  # checked first because a file may be named a:b=c.tr
            return text, ""
        match = _WITH_PARAMETERS.fullmatch(text)
        if match:
            return match["name"], match["rest"]
    match = _CLASS.fullmatch(text)
    if match:
        return f"{match['path']}:{match['cls']}".strip(), match["rest"] or ""
    match = _PLAIN.fullmatch(text)
    assert match is not None  # noqa: S101 (any text matches)
    return match["name"].strip(), match["rest"]


def _parse_items(text: str, owner: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for part in split_commas(text) if text.strip() else []:
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise InputError(f"{owner}: invalid parameter {part!r}; expected key=value, separated by commas.")
        if key.strip() in values:
            raise InputError(f"{owner}: duplicate parameter {key.strip()!r}; specify it once.")
        values[key.strip()] = strip_parentheses(value.strip())
    return values


def strip_parentheses(value: str) -> str:
    """Return *value* without a pair of parentheses around the whole value."""
    depth = 0
    for index, character in enumerate(value):
        depth += (character == "(") - (character == ")")
        if not depth and index < len(value) - 1:
            return value
    return value[1:-1] if value.startswith("(") and not depth else value


def _parenthesize(value: str) -> str:
    """Return *value*, in parentheses if :meth:`Spec.parse` would otherwise read a different value."""
    is_plain = len(split_commas(value)) == 1 and strip_parentheses(value) == value.strip() == value
    return value if is_plain else f"({value})"


def _files(text: str) -> list[Path]:
    name, rest = _split(text, "trace")
    path_and_class = class_file(name)
    path = Path(path_and_class[0] if path_and_class else name)
    nested = [file for part in split_commas(rest) for file in _files(part.partition("=")[2])] if rest else []
    if not path_exists(str(path)) or not path.is_file():
        return nested
    if path_and_class is None:
        return [path, *nested]
    from psm_sim.common.plugins import imported_files

    return [path, *imported_files(path), *nested]
