"""The trace with regimes: its schedule, and the differences between regimes."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.common.input_files import bundled_dir
from psm_sim.workload import Workload, load_workload
from psm_sim.workload.regimes import ShiftingProfile, regime_schedule, regimes_of

PATH = bundled_dir("traces") / "shifting.toml"
REGIMES = regimes_of(tomllib.loads(PATH.read_text(encoding="utf-8")), PATH)
CYCLE = sum(REGIMES.pages.values())


def schedule_of(workload: Workload) -> list[tuple[str, int]]:
    segments = (segment.split("*") for segment in workload.parameters["schedule"].split("+"))
    return [(name, int(pages)) for name, pages in segments]


def pages_of(workload: Workload, regime: str) -> list:
    names = [name for name, pages in schedule_of(workload) for _ in range(pages)]
    return [page for page, name in zip(workload.pages, names, strict=True) if name == regime]


def test_the_bundled_trace_cycles_through_four_regimes() -> None:
    """Each regime has its own number of pages."""
    workload = load_workload("shifting", 2 * CYCLE, 1)
    assert schedule_of(workload) == [*REGIMES.pages.items()] * 2
    assert [*REGIMES.pages] == ["quiet", "busy", "stream", "push"]
    assert workload.synthetic


@pytest.mark.parametrize("pages", [1, 7, 8, 9, 100, CYCLE + 1])
def test_every_page_is_in_exactly_one_segment_of_the_schedule(pages) -> None:
    """The last segment is truncated."""
    workload = load_workload("shifting", pages, 1)
    assert len(workload.pages) == pages == sum(length for _, length in schedule_of(workload))


def test_each_regime_has_the_values_of_its_table() -> None:
    workload = load_workload("shifting", 4 * CYCLE, 3)
    quiet, busy, stream, push = (pages_of(workload, name) for name in REGIMES.pages)
    for pages, low, high in ((quiet, 20, 300), (busy, 0.5, 15), (stream, 0, 0.05), (push, 0, 0.05)):
        assert all(low <= page.think_s <= high for page in pages)
    for pages, low, high in ((busy, 0.05, 1.5), (stream, 1.7, 2.1), (push, 25, 35)):
        assert all(low <= delay <= high for page in pages for delay in page.server_delay_s)
    for pages, low, high in ((stream, 28_000, 36_000), (push, 400, 1_600)):
        assert all(page.objects == 1 and low <= page.main_bytes <= high for page in pages)
    assert np.mean([page.objects for page in busy]) == pytest.approx(
        REGIMES.profiles["busy"].tables["files_per_page"].mean, rel=0.1
    )


def test_regimes_are_sampled_independently() -> None:
    """The order of the regimes does not change the pages of each; no two regimes share random numbers."""
    usual = load_workload("shifting:order=quiet*20+push*20", 40, 1)
    turned = load_workload("shifting:order=push*20+quiet*20", 40, 1)
    for name in ("quiet", "push"):
        assert pages_of(usual, name) == pages_of(turned, name)
    alike = load_workload("shifting:order=stream*20+push*20", 40, 1)
    think = [np.argsort([page.think_s for page in pages_of(alike, name)]) for name in ("stream", "push")]
    assert not np.array_equal(think[0], think[1])


def test_the_user_can_set_the_order_and_the_length_of_regimes() -> None:
    workload = load_workload("shifting:order=busy*5+push+busy*5,length=2", 60, 1)
    assert workload.parameters["schedule"] == "busy*10+push*32+busy*10+busy*8"


def test_the_schedule_in_the_result_reproduces_the_same_pages() -> None:
    """Lengths may be random: the schedule is a valid order."""
    drawn = load_workload("shifting:lengths=geometric", 200, 5)
    again = load_workload(f"shifting:order={drawn.parameters['schedule']}", 200, 5)
    assert again.pages == drawn.pages
    assert again.parameters["schedule"] == drawn.parameters["schedule"]


def test_geometric_lengths_have_the_configured_means() -> None:
    """The mean over 3,000 stretches of 10 pages is within four standard errors."""
    regimes = replace(REGIMES, pages=dict.fromkeys(REGIMES.pages, 10))
    plan = regime_schedule(regimes, ShiftingProfile(lengths="geometric"), 30_000, seed=1)
    lengths = [pages for _, pages in plan[:-1]]
    assert np.mean(lengths) == pytest.approx(10, abs=4 * np.std(lengths) / len(lengths) ** 0.5)
    assert np.std(lengths) == pytest.approx(90**0.5, rel=0.1)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("order=sleepy", r"order must be NAME or NAME\*PAGES .*quiet, busy, stream, push, got 'sleepy'"),
        ("order=quiet*0", r"order must be .*, got 'quiet\*0'"),
    ],
)
def test_wrong_parameters_are_an_error(texts: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_workload(f"shifting:{texts}", 10, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("regimes = 3", "regimes must be a table of regimes"),
        ('[regimes.quiet]\nbase = "ucb"', "regimes.quiet.pages must be an integer .*, got None"),
        (
            '[regimes.quiet]\nbase = "ucb"\npages = true',
            "regimes.quiet.pages must be an integer .*, got True",
        ),
        ("[regimes.quiet]\npages = 3", "regimes.quiet: missing table think_s"),
        ('[regimes.quiet]\nbase = "none"\npages = 3', "regimes.quiet: base must be .*, got 'none'"),
        ('[regimes."a+b"]\nbase = "ucb"\npages = 3', r"a regime name must .*, got 'a\+b'"),
        ('[regimes.quiet]\nbase = "ucb"\npages = 3\n[think_s]\n', "unknown key think_s next to regimes"),
    ],
)
def test_a_user_defined_regime_file_is_validated(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        load_workload(str(file), 10, 1)
    assert str(file) in str(caught.value)


def test_a_user_defined_regime_file_can_be_used(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('[regimes.a]\nbase = "ucb"\npages = 3\n[regimes.b]\nbase = "modern"\npages = 2\n')
    workload = load_workload(str(file), 7, 1)
    assert (workload.name, workload.parameters["schedule"]) == ("own", "a*3+b*2+a*2")
