"""Means with confidence intervals, and tests of their differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ttest_rel

from psm_sim.common.summary_stats import (
    adjusted_p_values,
    confidence_interval,
    significant_differences,
)


def test_the_student_interval_agrees_with_the_hand_computed_interval() -> None:
    """Four values have three degrees of freedom and t = 3.182."""
    interval = confidence_interval([1.0, 2.0, 3.0, 4.0])
    assert interval.mean == 2.5
    assert interval.half_width == pytest.approx(3.18245 * np.std([1, 2, 3, 4], ddof=1) / 2, rel=1e-5)
    assert (interval.low, interval.high) == (
        interval.mean - interval.half_width,
        interval.mean + interval.half_width,
    )


def test_a_single_value_has_no_interval() -> None:
    assert confidence_interval([3.0]) == (3.0, 0.0, 1)
    assert f"{confidence_interval([3.0]):.2f}" == "3.00"
    assert f"{confidence_interval([1.0, 1.0]):.1f}" == "1.0 ± 0.0"


def test_significance_tests_agree_with_scipy() -> None:
    """The test for two rows is the paired t-test, and equal rows never differ."""
    random = np.random.default_rng(1)
    for shift in np.linspace(0, 0.2, 21):
        first = random.normal(0, 0.1, 8)
        second = first + random.normal(shift, 0.1, 8)
        rejected = ttest_rel(first, second).pvalue <= 0.05
        assert significant_differences([first, second])[0, 1] == rejected
    assert not significant_differences([[1.0, 2.0, 3.0]] * 3).any()
    assert significant_differences([[1.0, 2.0], [1.5, 2.5]]).sum() == 2  # a constant difference is certain
    assert not significant_differences([[1.0], [2.0]]).any()
    assert not significant_differences([[1.0, math.nan], [2.0, 3.0]]).any()


def test_p_values_of_several_pairs_are_corrected_by_the_method_of_holm() -> None:
    """The least of three is tripled, and the next one doubled. No value is less than the one before."""
    random = np.random.default_rng(2)
    rows = random.normal([[0.0], [0.4], [0.5]], 0.3, (3, 8))
    pairs = [(0, 1), (0, 2), (1, 2)]
    least, middle, largest = sorted((ttest_rel(rows[a], rows[b]).pvalue, (a, b)) for a, b in pairs)
    adjusted = adjusted_p_values(rows)
    assert adjusted[least[1]] == pytest.approx(3 * least[0])
    assert adjusted[middle[1]] == pytest.approx(max(3 * least[0], 2 * middle[0]))
    assert adjusted[largest[1]] == pytest.approx(max(2 * middle[0], largest[0]))
    assert (adjusted == adjusted.T).all()


def test_confidence_intervals_have_their_nominal_coverage() -> None:
    """The coverage is 95 % of 2,000 samples of five normal values."""
    random = np.random.default_rng(5)
    intervals = [confidence_interval(random.normal(10, 2, 5)) for _ in range(2000)]
    assert sum(interval.low <= 10 <= interval.high for interval in intervals) / 2000 == pytest.approx(
        0.95, abs=0.015
    )
