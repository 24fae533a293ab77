"""Spec: a component and its parameters, read once from ``NAME:key=value,...``.

The name can be a class in a user's file, ``FILE.py:CLASS:key=value,...``, or a trace's file. A value can
hold commas inside parentheses, as a formula does; one wrapped in parentheses as a whole loses them, so
that ``loss=(my.py:Mine:a=1,b=2)`` gives a loss two parameters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from psm_sim.errors import InputError

_CLASS = re.compile(
    r"(?P<path>(?:[A-Za-z]:[\\/])?[^:]*\.[pP][yY]):(?P<cls>[^:]*)(?::(?P<rest>.*))?", re.DOTALL
)
_CLASS_BELOW_COLON = re.compile(r"(?P<path>.*?\.[pP][yY]):(?P<cls>[^:]*)(?::(?P<rest>.*))?", re.DOTALL)
_WITH_PARAMETERS = re.compile(r"(?P<name>.*?):(?P<rest>\s*[A-Za-z_]\w*\s*=.*)", re.DOTALL)


@dataclass(frozen=True)
class Spec:
    """The name of a component and the texts of its parameters.

    ``items`` are the pairs (key, text of the value) in the order given, ``text`` is what the user wrote:
    ``str()`` returns it, so that results are labelled with it, and :meth:`parse` reads it back. Two specs
    are equal if names and items are.
    """

    name: str
    items: tuple[tuple[str, str], ...] = ()
    text: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text: str, kind: str) -> Spec:
        """Read a spec.

        Parameters
        ----------
        text
            ``NAME``, ``FILE.py:CLASS`` or, of a trace, ``FILE``; ``:key=value,...`` can follow.
        kind
            What is named, for the errors: ``"policy"``, ``"loss"``, ``"learner"`` or ``"trace"``. The
            file of a trace can have colons in its path.

        Raises
        ------
        InputError
            If a parameter is no ``key=value``, or is given twice.
        """
        name, rest = _split(text, kind)
        return cls(name, _items(rest, f"{kind} {name}"), text)

    @classmethod
    def of(cls, what: str | Spec, kind: str) -> Spec:
        """Return *what* if it is a spec, else read it; arguments and errors as :meth:`parse`."""
        if isinstance(what, Spec):
            return what
        if not isinstance(what, str):
            raise InputError(f"{kind} is {what!r}; expected a text such as NAME or NAME:key=value.")
        return cls.parse(what, kind)

    @property
    def values(self) -> dict[str, str]:
        """The texts of the parameters by key, a fresh dictionary."""
        return dict(self.items)

    def with_(self, key: str, value: object) -> Spec:
        """Return a spec in which *key* has *value*: in its place if it is there, else at the end.

        *value* is written with ``str()``; parentheses around it as a whole are not part of it.
        """
        word = str(value).strip()
        items = tuple({**self.values, key: strip_parentheses(word)}.items())
        if key in self.values:
            return Spec(self.name, items)
        written = f"({word})" if len(split_commas(word)) > 1 else word
        before = f"{self}," if self.items else f"{str(self).rstrip().rstrip(':')}:"
        return Spec(self.name, items, f"{before}{key}={written}")

    def with_default(self, key: str, value: object) -> Spec:
        """Return a spec in which *key* has *value* unless it is given already."""
        return self if key in self.values else self.with_(key, value)

    def with_defaults(self, values: Mapping[str, object]) -> Spec:
        """Return a spec with those of *values* that it does not give; a value None is left out."""
        spec = self
        for key, value in values.items():
            spec = spec if value is None else spec.with_default(key, value)
        return spec

    def files(self) -> list[Path]:
        """Return the existing files that it names, as a class's, a trace's or a value; nested ones too."""
        return [path for text in (self.name, *self.values.values()) for path in _files(text)]

    def __str__(self) -> str:
        return self.text or _written(self.name, self.items)


def class_file(name: str) -> tuple[str, str] | None:
    """Return the path and the class if *name* is ``FILE.py:CLASS``, else None."""
    match = _class_in(name)
    return (match["path"], match["cls"]) if match else None


def name_of(text: str, kind: str) -> str:
    """Return the name with which *text* begins, without its parameters; arguments as :meth:`Spec.parse`."""
    return _split(text, kind)[0]


def split_commas(text: str) -> list[str]:
    """Split *text* at the commas that stand outside all parentheses."""
    parts, start, depth = [], 0, 0
    for index, sign in enumerate(text):
        depth = max(0, depth + (sign == "(") - (sign == ")"))
        if sign == "," and not depth:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def path_exists(name: str) -> bool:
    """Say whether there is a file or folder *name*; a name that no file can have is none."""
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False


def _class_in(text: str) -> re.Match[str] | None:
    """Return the match of ``FILE.py:CLASS``; a folder of an existing file can have a colon in its name."""
    below = _CLASS_BELOW_COLON.fullmatch(text)
    return _CLASS.fullmatch(text) or (below if below and path_exists(below["path"]) else None)


def _split(text: str, kind: str) -> tuple[str, str]:
    """Return the name and the text of the parameters."""
    if kind == "trace":  # its files can have colons, and are not told by their names
        if path_exists(text):  # first: a file may be named a:b=c.tr
            return text, ""
        match = _WITH_PARAMETERS.fullmatch(text)
        if match:
            return match["name"], match["rest"]
    match = _class_in(text)
    if match:
        return f"{match['path']}:{match['cls']}".strip(), match["rest"] or ""
    name, _, rest = text.partition(":")
    return name.strip(), rest


def _items(text: str, owner: str) -> tuple[tuple[str, str], ...]:
    values: dict[str, str] = {}
    for part in split_commas(text) if text.strip() else []:
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise InputError(f"{owner}: {part!r} is no parameter; expected key=value, separated by commas.")
        if key.strip() in values:
            raise InputError(f"{owner}: {key.strip()} is given twice; give it once.")
        values[key.strip()] = strip_parentheses(value.strip())
    return tuple(values.items())


def strip_parentheses(value: str) -> str:
    """Return *value* without the parentheses that wrap it as a whole, if there are any."""
    depth = 0
    for index, sign in enumerate(value):
        depth += (sign == "(") - (sign == ")")
        if not depth and index < len(value) - 1:
            return value
    return value[1:-1] if value.startswith("(") and not depth else value


def _written(name: str, items: tuple[tuple[str, str], ...]) -> str:
    parts = [f"{key}={_wrapped(value)}" for key, value in items]
    return f"{name}:{','.join(parts)}" if parts else name


def _wrapped(value: str) -> str:
    plain = len(split_commas(value)) == 1 and strip_parentheses(value) == value.strip() == value
    return value if plain else f"({value})"


def _files(text: str) -> list[Path]:
    name, rest = _split(text, "trace")
    found = class_file(name)
    path = Path(found[0] if found else name)
    inner = [file for part in split_commas(rest) for file in _files(part.partition("=")[2])] if rest else []
    return [path, *inner] if path_exists(str(path)) and path.is_file() else inner
