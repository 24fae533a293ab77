"""Registry of named components: built-in, user-defined or from installed packages."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from psm_sim.common.component_spec import Spec, class_file, name_of
from psm_sim.common.errors import InputError, did_you_mean, one_of
from psm_sim.common.input_files import bundled_names, read_text
from psm_sim.common.parameters import build, parameters_of
from psm_sim.common.plugins import (
    checked_class,
    distribution_of,
    installed_entry_points,
    load_class,
    load_entry_point,
)

T = TypeVar("T")


def unknown_name_error(kind: str, name: str, names: Iterable[str]) -> InputError:
    """Return the error for an unknown *name* of a *kind*, with a hint if one of *names* is similar."""
    names = list(names)
    if "FILE.py:CLASS" in names and name.lower().endswith(".py"):
        return InputError(f"{name} requires the name of a class; expected FILE.py:CLASS{_classes(name)}.")
    if "FILE.toml" in names and Path(name).suffix:
        hint = did_you_mean(name, [*map(str, Path(name).parent.glob("*.toml")), *names])
        return InputError(f"Unknown {kind} {name!r}; expected a name, or a file that ends with .toml.{hint}")
    preset = name in bundled_names("presets")
    hint = f" {name} is a preset; use --preset {name}." if preset else did_you_mean(name, names)
    return InputError(f"Unknown {kind} {name!r}; expected {one_of(name, names)}.{hint}")


def _classes(file: str) -> str:
    """Return a hint at the public classes in a user's file, without importing the file; "" if it has none."""
    try:
        names = re.findall(r"^class ([^\W_]\w*)", read_text(Path(file), 1 << 20), re.MULTILINE)
    except ValueError:
        return ""
    return f", such as {', '.join(f'{file}:{name}' for name in names[:3])}" if names else ""


class Registry(Generic[T]):
    """Named components of one kind. Their classes are imported on first use.

    Parameters
    ----------
    kind : str
        Kind of component, for error messages: ``"policy"``, ``"loss"`` or ``"learner"``.
    base : type
        Base class of all components, including user-defined ones.
    builtin : mapping of str to str
        ``"module:Class"`` by name.
    group : str
        Entry point group of components from other packages; empty for none. Built-in names take
        precedence.
    internal : tuple of str
        Built-in names that lists omit, because only psm_sim itself uses them.
    """

    def __init__(
        self,
        kind: str,
        base: type,
        builtin: Mapping[str, str],
        group: str = "",
        internal: tuple[str, ...] = (),
    ) -> None:
        self.kind, self.base, self._builtin, self.group = kind, base, dict(builtin), group
        self._internal = internal

    def names(self) -> list[str]:
        """Return the built-in names, without internal names."""
        return [name for name in self._builtin if name not in self._internal]

    def installed(self) -> dict[str, str]:
        """Return the package of each installed component by name, without built-in names."""
        points = installed_entry_points(self.group) if self.group else {}
        return {name: distribution_of(point) for name, point in points.items() if name not in self._builtin}

    def sources(self) -> dict[str, str]:
        """Return the source of each component by name: ``"built in"`` or its package."""
        return dict.fromkeys(self.names(), "built in") | self.installed()

    def knows(self, text: str) -> bool:
        """Return whether the spec *text* names a component or ``FILE.py:CLASS``."""
        name = name_of(text, self.kind)
        return name in self._builtin or class_file(name) is not None or name in self.installed()

    def get(self, name: str) -> type:
        """Return the class of a component that is built in, from a package, or written ``FILE.py:CLASS``.

        Raises
        ------
        InputError
            If the name is unknown, or the class cannot be used.
        """
        file = class_file(name)
        if file:
            return load_class(*file, self.base)
        if name not in self._builtin:
            return self._load_installed(name)
        module, _, attribute = self._builtin[name].partition(":")
        cls: type = getattr(importlib.import_module(module), attribute)
        return cls

    def _load_installed(self, name: str) -> type:
        point = installed_entry_points(self.group).get(name) if self.group else None
        if point is None:
            raise unknown_name_error(self.kind, name, [*self.names(), *self.installed(), "FILE.py:CLASS"])
        return checked_class(load_entry_point(point), self.base, f"{name} of {distribution_of(point)}")

    def create(self, spec: str | Spec, **arguments: Any) -> T:
        """Create a component from *spec*; *arguments* are parameters that only the program sets.

        Raises
        ------
        InputError
            If the component is unknown, or one of its parameters is invalid.
        """
        parsed = Spec.of(spec, self.kind)
        owner, cls = f"{self.kind} {parsed.name}", self.get(parsed.name)
        if parsed.label and "label" in parameters_of(cls):
            raise InputError(
                f"{owner}: label={parsed.label!r} names the results and is not passed to the class; rename "
                "its parameter 'label'."
            )
        return cast(T, build(cls, parsed.values, owner, **arguments))

    def make(self, component: str | Spec | T) -> T:
        """Return *component*, created with :meth:`create` if it is a spec.

        Raises
        ------
        InputError
            See :meth:`create`.
        """
        if isinstance(component, self.base):
            return cast(T, component)
        return self.create(cast("str | Spec", component))
