"""The bundled ucb trace, compared with published figures."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.common.input_files import bundled_dir
from psm_sim.workload import load_workload
from psm_sim.workload.trace_profile import read_profile

PROFILE = read_profile(bundled_dir("traces") / "ucb.toml")
LARGE = load_workload("ucb:max_think_s=none", 5000, seed=1).pages


def sizes(pages):
    """Return the sizes of all objects of *pages*."""
    return [size for page in pages for size in (page.main_bytes, *page.image_bytes)]


@pytest.mark.parametrize(
    ("limit", "published"), [(60, 14.4), (300, 29.2), (1000, 52.9), (3600, 105), (None, 1804)]
)
def test_conditional_means_of_the_think_time_agree_with_the_published_means(
    limit: int | None, published: float
) -> None:
    """The mean of the think times up to a limit is within 2.5 % of the published one."""
    table = PROFILE.tables["think_s"]
    upto = 1.0 if limit is None else table.probability(limit)
    assert float(table.integral(upto)) / upto == pytest.approx(published, rel=0.025)


@pytest.mark.parametrize(
    ("table", "published", "within"),
    [("reply_bytes", 7231, 0.01), ("request_bytes", 337, 0.01), ("files_per_page", 2.84, 0.001)],
)
def test_the_means_of_all_tables_agree_with_the_published_means(
    table: str, published: float, within: float
) -> None:
    """The chosen interpolation reproduces the mean of the original data."""
    assert PROFILE.tables[table].mean == pytest.approx(published, rel=within)


def test_large_replies_carry_the_published_share_of_the_bytes() -> None:
    """10.5 % have up to 120 B, 33.7 % up to 1,000 B; 1.9 % are over 50 KB and have 42 % of the bytes."""
    table = PROFILE.tables["reply_bytes"]
    above = table.probability(50_000)
    assert [table.probability(120), table.probability(1000)] == pytest.approx([0.105, 0.337], abs=0.005)
    assert 1 - above == pytest.approx(0.019, abs=0.001)
    assert 1 - float(table.integral(above)) / table.mean == pytest.approx(0.42, abs=0.01)


def test_server_delays_follow_packmime() -> None:
    """The table is the quantile function of 1 / max(10, Weibull(0.63, 305))."""
    table = PROFILE.tables["server_delay_s"]
    u = np.linspace(0.01, 0.995, 198)
    formula = 1 / np.maximum(10, 305 * (-np.log(u)) ** (1 / 0.63))
    assert table.at(u) == pytest.approx(formula, rel=0.04)
    assert table.at(1) == 0.1


@pytest.mark.parametrize(
    ("table", "drawn"),
    [
        ("think_s", [page.think_s for page in LARGE]),
        ("reply_bytes", sizes(LARGE)),
        ("request_bytes", [size for page in LARGE for size in page.request_bytes]),
        ("server_delay_s", [delay for page in LARGE for delay in page.server_delay_s]),
    ],
)
def test_samples_of_each_table_have_the_published_quantiles(table: str, drawn) -> None:
    """The extreme probabilities are omitted."""
    points = PROFILE.tables[table]
    for p, value in zip(points.probabilities, points.values, strict=True):
        if 0.01 <= p <= 0.998:
            low, high = np.quantile(drawn, [p - 0.002, min(p + 0.002, 1)])
            assert low * 0.98 - 1 <= value <= high * 1.02 + 1


def test_the_numbers_of_files_per_page_have_the_published_shares() -> None:
    """The shares are of pages by number of objects, with the main object."""
    counts = [page.objects for page in LARGE]
    assert [counts.count(n) / 5000 for n in (1, 2, 3)] == pytest.approx([0.5118, 0.2091, 0.0748], abs=5e-4)


def test_for_any_seed_the_mean_of_a_hundred_pages_is_near_the_mean_of_the_distribution() -> None:
    """Stratified think times, page sizes and objects per page are within a few per cent for 40 seeds."""
    for seed in range(40):
        pages = load_workload("ucb", 100, seed).pages
        think = statistics.mean(page.think_s for page in pages)
        assert think == pytest.approx(53.95, rel=0.03)
        assert statistics.mean(page.objects for page in pages) == pytest.approx(2.84, rel=0.03)
        assert statistics.mean(sizes(pages)) == pytest.approx(7183, rel=0.04)


def test_think_times_over_the_limit_are_drawn_again_rather_than_clipped() -> None:
    """No think time is over 1,000 s, and they do not accumulate at the limit."""
    think = sorted(page.think_s for page in load_workload("ucb", 2000, 3).pages)
    assert think[-1] <= 1000
    assert think[-2] < 999.9
    assert sum(value > 990 for value in think) < 10


def test_the_server_delay_can_be_constant_or_zero() -> None:
    """A constant in ms for every object, or no delay; sizes are unchanged."""
    default = load_workload("ucb", 50, 1).pages
    constant = load_workload("ucb:server_delay_ms=25", 50, 1).pages
    none = load_workload("ucb:server_delay_ms=none", 50, 1).pages
    assert {delay for page in constant for delay in page.server_delay_s} == {0.025}
    assert {delay for page in none for delay in page.server_delay_s} == {0.0}
    assert sizes(default) == sizes(constant) == sizes(none)
    assert len({delay for page in default for delay in page.server_delay_s}) > 50


def test_the_parameter_files_are_images_reproduces_the_off_by_one_error_of_ns2() -> None:
    """The trace of ns-2 loads one object too many per page."""
    plain, quirk = (load_workload(f"ucb:files_are_images={word}", 100, 1) for word in ("no", "yes"))
    more = [a.objects - b.objects for a, b in zip(quirk.pages, plain.pages, strict=True)]
    assert more == [1] * 100


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "ucb:server_delay_ms=-1",
            "server_delay_ms must be a number from 0 to .*, 'none' or 'trace', got '-1'",
        ),
        ("ucb:max_think_s=0", "max_think_s must be a number > 0 and <= .*, or none, got '0'"),
        ("ucb:max_think_s=1", "max_think_s must be greater than 1.005, .*, got 1"),
    ],
)
def test_the_error_for_a_wrong_parameter_has_the_parameter_name(spec: str, message: str) -> None:
    """The message has the parameter, its value and the expected values."""
    with pytest.raises(InputError, match=message):
        load_workload(spec, 10, 1)


@pytest.mark.parametrize("pages", [0, 2.5])
def test_an_invalid_number_of_pages_is_an_error(pages) -> None:
    with pytest.raises(InputError, match="pages must be an integer >= 1, got"):
        load_workload("ucb", pages, 1)
