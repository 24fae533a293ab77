"""Parametrised tests of the contract checks: one ``component:check`` for each pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from psm_sim.contracts.report import Check, check_name

Exceptions = Mapping[tuple[str, str], str]
"""Reasons why a component may fail a check, by (component, check)."""


def cases(checks: Sequence[Check], components: Sequence[str], exceptions: Exceptions) -> list[Any]:
    """Return each component with each check; listed exceptions must fail."""
    pairs = {(component, check_name(check)): check for component in components for check in checks}
    assert set(exceptions) <= set(pairs)
    return [
        pytest.param(
            pair[0],
            check,
            id=":".join(pair),
            marks=pytest.mark.xfail(reason=exceptions[pair]) if pair in exceptions else (),
        )
        for pair, check in pairs.items()
    ]
