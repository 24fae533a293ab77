"""Formulas: their arithmetic, and the rejection of everything else."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.common.errors import InputError
from psm_sim.losses import FormulaLoss, InverseLogLoss, Poll
from psm_sim.losses.formula_loss import MAX_LENGTH, MAX_NODES

TIMES_MS = np.arange(100.0, 1201.0, 100.0)
POLL = Poll(300.0, 1500, 1)


def test_the_documented_formula_equals_the_inverse_log_loss() -> None:
    """The published loss as a formula is the built-in one."""
    formula = FormulaLoss("gamma * I * Ti**2 / (2*T) + 1/log(Ti)")
    for poll in (Poll(100.0), POLL):
        np.testing.assert_allclose(formula(poll, TIMES_MS), InverseLogLoss()(poll, TIMES_MS), rtol=1e-15)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2", 2.0),
        ("I + T", 1800.0),
        ("-2**2", -4.0),
        ("2**-1", 0.5),
        ("2**3**2", 512.0),
        ("7 % 4 - +1", 2.0),
        ("I / T", 5.0),
        ("max(1, min(I, T), 2)", 300.0),
        ("minimum(3, 4) + maximum(3, 4)", 7.0),
        ("where(I > 1000, 1, 2)", 1.0),
        ("1 if I < 1000 else 2", 2.0),
        ("(I >= 1500) + (I != 1500) + (T == 300)", 2.0),
        ("where(not (I > 1 and T > 1000 or I < 0), 5, 6)", 5.0),
        ("sqrt(16) + abs(-3)", 7.0),
        ("exp(0) + log(exp(2)) + log2(8) + log10(100)", 8.0),
        ("log1p(0) + expm1(0)", 0.0),
        (" 1e3 + .5 ", 1000.5),
    ],
)
def test_arithmetic_agrees_with_python(text: str, expected: float) -> None:
    """Precedence, comparison and functions agree, with one value per candidate."""
    np.testing.assert_allclose(FormulaLoss(text)(POLL, TIMES_MS), np.full(12, expected), rtol=1e-14)


@given(st.floats(0.1, 1e4), st.integers(0, 10**6), st.floats(1, 1e5))
def test_constant_folding_changes_no_bit(gamma: float, buffered: int, slept_ms: float) -> None:
    """NumPy is the reference."""
    formula = FormulaLoss("gamma * I * (2 * Ti)**2 / T + sqrt(Ti) / (gamma + 1)", gamma)
    expected = gamma * buffered * (2 * TIMES_MS) ** 2 / slept_ms + np.sqrt(TIMES_MS) / (gamma + 1)
    np.testing.assert_array_equal(formula(Poll(slept_ms, buffered, 1), TIMES_MS), expected)


@pytest.mark.parametrize(
    ("text", "is_constant"),
    [
        ("gamma * I * Ti**2 / (2*T) + 1/log(Ti)", True),
        ("I * (Ti / T)**2 + (1/Ti if I == 0 else T)", True),
        ("where(I > 0, gamma * Ti * sqrt(T), 0) + log1p(I / max(T, 100)) + 2", True),
        ("1 / Ti", True),
        ("gamma * I + Ti / T", False),
        ("I / (T - 100) + 1/Ti", False),
        ("where(T > 500, Ti, 1/Ti)", False),
        ("0 * log(T) + 1/Ti", False),
    ],
)
def test_the_idle_method_returns_the_constant_loss_of_empty_dozes_or_none(
    text: str, is_constant: bool
) -> None:
    """The loss is bit-for-bit that of every doze without bytes. 0 / T is 0, because T is positive."""
    formula = FormulaLoss(text)
    idle = formula.idle(TIMES_MS)
    assert (idle is not None) is is_constant
    for slept_ms in (1e-6, 63.0, 1e8):
        if idle is not None:
            assert idle.tobytes() == formula(Poll(slept_ms), TIMES_MS).tobytes()


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("__import__('os').system('id')", "__import__('os').system('id')"),
        ("Ti.__class__", "Ti.__class__"),
        ("Ti[0]", "Ti[0]"),
        ("log(Ti, out=Ti)", "log(Ti, out=Ti)"),
        ("(lambda: 1)()", "(lambda: 1)()"),
        ("True + 1", "True"),
        ("Ti @ Ti", "Ti @ Ti"),
        ("1 < Ti < 3", "1 < Ti < 3"),
        ("(y := 3)", "y := 3"),
        ("Ti + x", "'x'"),
        ("log", "'log'"),
    ],
)
def test_the_error_for_forbidden_syntax_quotes_the_syntax(text: str, piece: str) -> None:
    """The message also has the allowed operations."""
    with pytest.raises(InputError, match="expected arithmetic on I, T, Ti, gamma") as caught:
        FormulaLoss(text)
    assert piece in str(caught.value).replace("\\'", "'")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "cannot be parsed"),
        ("1 +", "cannot be parsed"),
        ("1\0", "cannot be parsed"),
        ("(" * 240 + "1" + ")" * 240, "cannot be parsed"),
        ("-" * 450 + "1", "must have at most|cannot be parsed"),
        ("+".join(["1"] * (MAX_NODES // 2 + 1)), f"must have at most {MAX_NODES} parts"),
        ("1" * (MAX_LENGTH + 1), f"must have at most {MAX_LENGTH} characters, got {MAX_LENGTH + 1}"),
        ("log(1, 2)", "with 2 arguments; expected 1"),
        ("1e999", "expected a number below 1.8e308"),
    ],
)
def test_the_error_for_an_unreadable_formula_has_the_reason(text: str, reason: str) -> None:
    """Formulas are too long, too deep, unfinished, or wrongly called."""
    with pytest.raises(InputError, match=reason) as caught:
        FormulaLoss(text)
    assert "\n" not in str(caught.value)


def test_a_tower_of_powers_overflows_at_once() -> None:
    """Every number is a float."""
    assert math.isinf(FormulaLoss("9**9**9**9")(POLL, TIMES_MS)[0])


@pytest.mark.parametrize("gamma", [-1.0, math.nan, "x"])
def test_the_gamma_of_a_formula_must_be_a_number_of_at_least_0(gamma: Any) -> None:
    with pytest.raises(InputError, match=r"loss formula: gamma must be a number >= 0 .*, got .*"):
        FormulaLoss("gamma", gamma)
