"""Kind of component: its base class, its checks, and how it is found by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from psm_sim.contracts.check_suite import Suite


class Kind(NamedTuple):
    """One kind of component: its base class, its checks, and how it is found by name."""

    base: type
    suite: Suite[Any]
    subject: Callable[[Any], Any]
    names: list[str]
    make: Callable[[str], Any]
    given: Mapping[str, Any] = {}
