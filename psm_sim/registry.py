"""Registry: the components of one kind by name, built in or a class in a user's file."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any, Generic, TypeVar, cast

from psm_sim.component_spec import Spec, class_file, name_of
from psm_sim.errors import InputError, did_you_mean
from psm_sim.parameters import build
from psm_sim.plugins import (
    checked_class,
    distribution_of,
    installed_entry_points,
    load_class,
    load_entry_point,
)

T = TypeVar("T")


def unknown_name_error(kind: str, name: str, names: Iterable[str]) -> InputError:
    """Return the error for a name that is not in a list, with the nearest one as a hint.

    Parameters
    ----------
    kind
        What is named, such as ``"policy"``.
    name
        The name given.
    names
        The names there are.
    """
    names = list(names)
    return InputError(
        f"There is no {kind} {name!r}; expected one of {', '.join(names)}.{did_you_mean(name, names)}"
    )


class Registry(Generic[T]):
    """The components of one kind that can be named; classes are imported when first used.

    Parameters
    ----------
    kind
        What they are, for the errors: ``"policy"``, ``"loss"`` or ``"learner"``.
    base
        The class that each of them, and a user's own, derives from.
    builtin
        ``"module:Class"`` by name.
    group
        The entry point group under which other packages offer more of them; empty for none. A built-in
        name is never taken by a package.
    """

    def __init__(self, kind: str, base: type, builtin: Mapping[str, str], group: str = "") -> None:
        self.kind, self.base, self._builtin, self.group = kind, base, dict(builtin), group

    def names(self) -> list[str]:
        """Return the built-in names."""
        return list(self._builtin)

    def installed(self) -> dict[str, str]:
        """Return the names that installed packages offer, each with its package; no built-in ones."""
        offered = installed_entry_points(self.group) if self.group else {}
        return {name: distribution_of(point) for name, point in offered.items() if name not in self._builtin}

    def knows(self, text: str) -> bool:
        """Say whether *text* begins with a built-in name or with ``FILE.py:CLASS``."""
        name = name_of(text, self.kind)
        return name in self._builtin or class_file(name) is not None or name in self.installed()

    def get(self, name: str) -> type:
        """Return the class of a built-in name, of ``FILE.py:CLASS`` or of a package's name.

        Raises
        ------
        InputError
            If there is no such name, or the class cannot be used.
        """
        file = class_file(name)
        if file:
            return load_class(*file, self.base)
        if name not in self._builtin:
            return self._offered(name)
        module, _, attribute = self._builtin[name].partition(":")
        found: type = getattr(importlib.import_module(module), attribute)
        return found

    def _offered(self, name: str) -> type:
        point = installed_entry_points(self.group).get(name) if self.group else None
        if point is None:
            raise unknown_name_error(self.kind, name, [*self.names(), *self.installed(), "FILE.py:CLASS"])
        return checked_class(load_entry_point(point), self.base, f"{name} of {distribution_of(point)}")

    def create(self, what: str | Spec, **given: Any) -> T:
        """Make the component that a text or spec names, its parameters checked; *given* are further values.

        Raises
        ------
        InputError
            If there is no such component, or one of its parameters is wrong.
        """
        spec = Spec.of(what, self.kind)
        made: T = build(self.get(spec.name), spec.values, f"{self.kind} {spec.name}", **given)
        return made

    def make(self, what: str | Spec | T) -> T:
        """Return the component that a text or spec names, or *what* itself if it is made already.

        Raises
        ------
        InputError
            As :meth:`create`.
        """
        if isinstance(what, self.base):
            return cast(T, what)
        return self.create(cast("str | Spec", what))
