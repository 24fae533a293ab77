"""Kind of component that contract checks support."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from psm_sim.contracts.check_suite import Suite


class Kind(NamedTuple):
    """Kind of component that contract checks support.

    Attributes
    ----------
    base : type
        Base class of its components.
    suite : Suite
        Contract checks.
    subject : callable
        Class of the test subject, called with the component.
    names : list of str
        Names of the registered components.
    make : callable
        Creates a component from its text.
    arguments : mapping
        Constructor arguments of a component that is specified as a class.
    """

    base: type
    suite: Suite[Any]
    subject: Callable[[Any], Any]
    names: list[str]
    make: Callable[[str], Any]
    arguments: Mapping[str, Any] = {}
