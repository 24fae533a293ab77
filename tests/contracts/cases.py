"""Parametrised tests of the contract checks: one ``component:check`` for each pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from psm_sim.contracts.check_suite import Suite

Exceptions = Mapping[tuple[str, str], str]
"""The reason why a component is not held to a check, by (component, check)."""


def cases(suite: Suite[Any], components: Sequence[str], exceptions: Exceptions) -> list[Any]:
    """Return each component with the name of each check; an exception must fail, or it is none."""
    pairs = [(component, check) for component in components for check in suite.names()]
    assert set(exceptions) <= set(pairs)
    return [
        pytest.param(
            *pair,
            id=":".join(pair),
            marks=pytest.mark.xfail(reason=exceptions[pair]) if pair in exceptions else (),
        )
        for pair in pairs
    ]
