"""Comparison of LPSM's losses: curves, cost of a nat, and regret."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import cast

import numpy as np
import pytest

import psm_sim
from psm_sim.campaign.loss_comparison import LossComparison
from psm_sim.campaign.loss_examination import LoggedLpsm
from psm_sim.cli import main
from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.losses import Poll, make_loss
from psm_sim.network import load_topology
from psm_sim.reporting.html.losses import html_of_losses
from psm_sim.reporting.sentences import conclude_losses
from psm_sim.reporting.terminal.losses import setting_lines
from psm_sim.simulation.run import run_workload
from psm_sim.simulation.verdict import saving_reason
from psm_sim.workload import load_workload

WITHOUT_GAMMA = """
from psm_sim.losses import Loss


class Polls(Loss):
    \"\"\"One nat per hundred milliseconds of sleep, whatever the time.\"\"\"

    name = "polls"

    def __call__(self, poll, times_ms):
        return 0 * times_ms + poll.slept_ms / 100
"""


class LoggedPolls(LoggedLpsm):
    """LPSM that records its rounds and the polls of its training."""

    def start(self, beacon_s: float) -> None:
        """Start without polls."""
        self.polls: list[Poll] = []
        super().start(beacon_s)

    def losses(self, poll: Poll) -> FloatArray:
        """Record the poll."""
        self.polls.append(poll)
        return super().losses(poll)


@pytest.fixture(scope="module")
def losses() -> LossComparison:
    """Two losses at three values of gamma on a few pages of two seeds."""
    return psm_sim.compare_losses(
        ["inverse-log", "inverse:gamma=1e-5"], pages=8, replications=2, gammas=[1e-6, 1e-5, 1e-4], workers=1
    )


def test_each_row_equals_a_run_of_lpsm_with_its_loss_and_gamma(losses: LossComparison) -> None:
    """The policy in a row repeats the numbers of the row."""
    frame = losses.frame
    assert list(frame["seed"]) == [1, 2] * 10
    assert list(frame["loss"][::2]) == ["inverse-log"] * 3 + ["inverse"] * 3 + [""] * 4
    assert list(frame["gamma"][:12:2]) == [1e-6, 1e-5, 1e-4] * 2
    assert list(frame["policy"][12::2]) == ["always-on", "psm", "bsd", "anticipate"]
    row = frame.iloc[9]
    again = psm_sim.simulate(row["policy"], pages=8, seed=2, workers=1)
    assert row["policy"] == "lpsm:loss=inverse,gamma=1e-05"
    assert row["energy_per_page_j"] == again.energy_per_page_j
    assert row["slowdown.mean"] == again.slowdown.mean


def test_paired_differences_agree_with_the_rows_of_the_dataframe(losses: LossComparison) -> None:
    """The values of gamma are those closest to the defaults, 1/1200 and 1e-5."""
    frame = losses.frame
    first, other = (
        frame[(frame["loss"] == loss) & (frame["gamma"] == gamma)].set_index("seed")
        for loss, gamma in [("inverse-log", 1e-4), ("inverse", 1e-5)]
    )
    (difference,) = losses.differences()
    runs = [curve.default_run for curve in losses.curves]
    delays = other["slowdown.mean"] - first["slowdown.mean"]
    energies = 100 * (other["energy_per_page_j"] - first["energy_per_page_j"])
    energies /= first["energy_per_page_j"].mean()
    assert difference.slowdown.mean == pytest.approx(delays.mean())
    assert difference.slowdown.half_width == pytest.approx(12.7062 * delays.std() / 2**0.5, rel=1e-5)
    assert difference.energy_percent.mean == pytest.approx(energies.mean())
    assert difference.delay_differs == (abs(delays.mean()) > difference.slowdown.half_width)
    assert difference.energy_differs == (abs(energies.mean()) > difference.energy_percent.half_width)
    text = conclude_losses(losses)
    assert text.startswith("Loss inverse ")
    assert (" delays " in text) is difference.delay_differs
    assert f"(slowdown {delays.mean():+.3f} ± {difference.slowdown.half_width:.3f})" in text
    assert (", because it " in text) is difference.energy_differs
    reason = saving_reason(*(run.row for run in sorted(runs, key=lambda run: run.energy_per_page_j)))
    assert difference.reason is not None
    assert reason is not None
    assert {*difference.reason} == {*reason}
    assert len(re.findall(r"The gamma of inverse(-log)? (hardly )?matters: from 1e-06 to 0.0001", text)) == 2


def test_the_conclusion_on_losses_states_that_one_seed_is_too_few() -> None:
    comparison = psm_sim.compare_losses(
        ["inverse", "inverse-log"], pages=2, replications=1, gammas=[1e-5], workers=1
    )
    assert conclude_losses(comparison) == "One seed is too few to tell the losses apart; see --replications."


def test_the_gamma_derived_from_a_price_of_delay_implies_that_price() -> None:
    """The loss need not be linear in gamma; other values of gamma are relative to this one."""
    comparison = psm_sim.compare_losses(
        ["inverse", "gamma**2 * I * Ti + 1/Ti"], pages=3, replications=1, price_w=0.5, workers=1
    )
    for curve in comparison.curves:
        assert curve.examination.nat.price_w == pytest.approx(0.5, rel=1e-5)
        assert curve.gammas[2] == curve.default_gamma
        assert np.array(curve.gammas) / curve.default_gamma == pytest.approx([1 / 16, 1 / 4, 1, 4, 16])


def test_a_loss_computed_per_page_is_examined_per_page(tmp_path: Path) -> None:
    """Each round is a page, except the last one. A second of delay costs a nat."""
    file = tmp_path / "delays.py"
    file.write_text(
        "from psm_sim.losses import Context, Loss\n\n"
        "class Delays(Loss):\n    name, per = 'delays', 'page'\n\n"
        "    def __call__(self, poll, times_ms, context=Context()):\n"
        "        return context.delays_ms / 1000 + 0 * times_ms\n"
    )
    comparison = psm_sim.compare_losses([f"{file}:Delays"], pages=20, replications=1, workers=1)
    examination = comparison.curves[0].examination
    assert examination.regret.rounds == 19
    assert examination.nat.seconds == pytest.approx(1, rel=0.1)
    assert setting_lines(comparison)[-1].startswith("Delays: a loss of a page.")


def test_rounds_use_the_polling_times_of_the_station(losses: LossComparison) -> None:
    """A polling time is the last prediction, rounded to beacons of 100 ms."""
    curve = losses.curves[0]
    policy = LoggedPolls(gamma=curve.default_gamma)
    log = cast(LoggedPolls, run_workload(policy, load_topology(), load_workload("ucb", 8, 1)).policy_state)
    used_ms = [650.0, *(round_.polling_ms for round_ in log.rounds[:-1])]
    loss = make_loss("inverse-log")
    expected = sum(
        loss.at(poll, 100.0 * max(1, int(time_ms / 100 + 0.5 + 1e-9)))
        for poll, time_ms in zip(log.polls, used_ms, strict=True)
    )
    assert curve.examination.regret.used == pytest.approx(expected, rel=1e-12)


def test_default_gammas_are_multiples_of_the_default_of_the_loss() -> None:
    comparison = psm_sim.compare_losses(["inverse"], pages=2, replications=1, workers=1)
    (curve,) = comparison.curves
    assert curve.default_gamma == 1 / 1.2e5
    plain = psm_sim.simulate("lpsm:loss=inverse", pages=2, workers=1)
    assert curve.runs[2].energy_per_page_j == plain.energy_per_page_j
    assert np.array(curve.gammas) * 1.2e5 == pytest.approx([1 / 16, 1 / 4, 1, 4, 16])


def test_the_regret_of_lpsm_obeys_its_bound(losses: LossComparison) -> None:
    """The comparators are ordered, and Corollary 1 bounds the regret to the best switching rate."""
    for curve in losses.curves:
        regret = curve.examination.regret
        assert 0 < regret.best_switching <= regret.best_fixed
        assert 0 <= regret.over_best_rate <= regret.bound
        assert regret.switches == 16


def test_the_weights_of_all_polling_times_are_recorded_during_the_longest_page_load(
    losses: LossComparison,
) -> None:
    """The weights are distributions over the polling times, around the longest page."""
    examination = losses.curves[0].examination
    load = examination.page_load
    assert load.weights.shape == (load.times_s.size, examination.times_ms.size)
    assert load.weights.sum(axis=1) == pytest.approx(1)
    assert ((load.polling_ms >= 100) & (load.polling_ms <= 1200)).all()
    first_s, last_s = load.times_s[[0, -1]] - load.page["start_s"]
    assert -1 <= first_s < last_s <= load.page["page_time_s"] + 3


def test_both_published_losses_imply_a_price_of_delay(losses: LossComparison) -> None:
    """Both losses increase with energy and with delay, so a nat costs joules and seconds."""
    for curve in losses.curves:
        nat = curve.examination.nat
        assert nat.joules > 0
        assert nat.seconds > 0
        assert nat.price_w == pytest.approx(nat.joules / nat.seconds)
        assert nat.fit <= 1


def test_the_curve_of_a_loss_without_gamma_has_a_single_point(tmp_path: Path) -> None:
    file = tmp_path / "costs.py"
    file.write_text(WITHOUT_GAMMA)
    comparison = psm_sim.compare_losses([f"{file}:Polls"], pages=2, replications=1, workers=1)
    (curve,) = comparison.curves
    assert curve.name == "Polls"
    assert np.isnan(curve.gammas).all()
    assert len(curve.runs) == 1
    with pytest.raises(InputError, match="gamma has no effect on loss Polls, which has no parameter gamma"):
        psm_sim.compare_losses([f"{file}:Polls"], gammas=[1.0])


def test_the_command_writes_files_only_to_output(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["losses", "inverse", "--pages", "3", "--replications", "2", "--workers", "1"]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "8.33e-06 (default)" in printed
    assert not list(tmp_path.iterdir())
    assert main([*arguments, "--force"]) == 2
    assert "--force has no effect without --output" in capsys.readouterr().err
    arguments += ["--output", "losses.html"]
    assert main(arguments) == 0
    assert capsys.readouterr().out == printed
    with (tmp_path / "losses.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["loss"] for row in rows] == ["inverse"] * 10 + [""] * 8
    assert "The gamma of inverse" in printed
    assert "Cost of a nat" in (tmp_path / "losses.html").read_text(encoding="utf-8")
    assert main(arguments) == 2
    assert "already exists" in capsys.readouterr().err


def test_names_in_the_html_page_are_escaped() -> None:
    """A formula may contain characters of markup."""
    comparison = psm_sim.compare_losses(
        ["gamma * I * Ti + (Ti < 300)"], pages=2, replications=1, gammas=[1e-5], workers=1
    )
    assert "learns nothing" not in setting_lines(comparison)[-1]
    page = html_of_losses(comparison, "python -m psm_sim losses '<script>'")
    assert "<script>'" not in page
    assert "Ti &lt; 300" in page


def test_a_loss_that_is_equal_for_all_polling_times_has_a_remark() -> None:
    comparison = psm_sim.compare_losses(["Ti - Ti"], pages=2, replications=1, gammas=[1e-5], workers=1)
    assert setting_lines(comparison)[-1].startswith("Ti - Ti: the loss is the same for every polling time")


def test_a_nat_costs_the_energy_of_one_beacon_if_every_poll_loses_one_nat() -> None:
    """The loss is one nat per poll, so a nat costs the energy of receiving a beacon, 1.5 mJ."""
    comparison = psm_sim.compare_losses(["1 + 0 * Ti"], pages=10, replications=1, gammas=[1.0], workers=1)
    assert comparison.curves[0].examination.nat.joules == pytest.approx(0.0015, rel=0.1)
