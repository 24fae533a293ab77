"""Bounds: every number has an upper one, and what is beyond it is refused in a sentence before the run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from psm_sim.cli import main
from psm_sim.common.parameters import Parameter, parameters_of
from psm_sim.learning.factory import LEARNERS
from psm_sim.losses import LOSSES
from psm_sim.policies import POLICIES
from psm_sim.simulation import simulate
from psm_sim.workload.page_sampler import PageSampling
from psm_sim.workload.recorded_pages import Playback, RecordingOptions
from psm_sim.workload.recordings.page_grouping import PageRule
from psm_sim.workload.regimes import ShiftingProfile
from tests.workload.recordings.ucb_files import SHOWTRACE

OTHERS = (PageSampling, PageRule, Playback, ShiftingProfile, RecordingOptions)


def every_parameter() -> Iterator[tuple[str, Parameter]]:
    """Yield each parameter of the policies, losses and traces, with the name of its class."""
    registries = (registry.get(name) for registry in (POLICIES, LOSSES) for name in registry.names())
    for cls in (*registries, *OTHERS):
        yield from ((cls.__name__, each) for each in parameters_of(cls).values())


def test_every_number_has_an_upper_and_a_lower_bound() -> None:
    """Also one that is given as none by default; texts, choices and truth values have no need of them."""
    numbers = [
        (owner, each)
        for owner, each in every_parameter()
        if (isinstance(each.default, (int, float)) and not isinstance(each.default, bool))
        or (each.default is None and each.kind is not str)
    ]
    assert len(numbers) > 30
    open_ended = [
        f"{owner}.{each.name}"
        for owner, each in numbers
        if each.at_most is None or (each.above is None and each.at_least is None)
    ]
    assert open_ended == []
    assert LEARNERS.names()  # theirs are checked by psm_sim.learning.input_checks


@pytest.mark.parametrize(
    "words",
    [
        "--seed 99999999999999999999",
        "--pages " + "9" * 5000,
        "--policy lpsm:horizon_s=1e308",
        "--policy lpsm:horizon_s=1e9 --set beacon.interval_ms=0.001",
        "--policy lpsm:min_ms=0.1,max_ms=1000,step_ms=0.1,horizon_s=1e8",
        "--policy bsd:p=1e308",
        "--trace ucb:mean_think_s=1e17",
        "--trace many.toml --pages 1000",
        "--trace huge.toml",
        "--trace tiny.toml",
        "--trace digits.toml",
        "--trace s.txt:clients=" + "9" * 5000,
        "--workers 2000",
        "trace convert ucb --to t.csv --pages 100000000000",
    ],
)
def test_what_is_beyond_its_bound_is_refused_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    tables = {
        "many": "[files_per_page]\nquantiles = [[1, 100000]]",
        "huge": "[files_per_page]\nquantiles = [[1, 1e12]]",
        "tiny": "[think_s]\ninterpolation = 'log'\nquantiles = [[0, 1e-320], [1, 1e8]]",
        "digits": f"[think_s]\nquantiles = [[1, {'9' * 400}]]",
    }
    for name, text in tables.items():
        (tmp_path / f"{name}.toml").write_text(f'base = "ucb"\n{text}\n')
    (tmp_path / "s.txt").write_text(SHOWTRACE)
    assert main(words.split()) == 2
    output, complaint = capsys.readouterr()
    assert (output, complaint.count("\n")) == ("", 1)
    assert "mistake of its own" not in complaint
    assert len(complaint) < 1_000


def test_a_bound_too_small_for_any_doze_is_a_radio_that_never_dozes() -> None:
    """Bounded Slowdown with p near 0."""
    result = simulate("bsd:p=1e-300", pages=2)
    assert result.slowdown.max == 1
    assert result["energy_by_state_per_page_j.asleep"] == 0
