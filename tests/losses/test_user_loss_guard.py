"""A loss that does not keep its promise is found out before the run."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

import psm_sim
from psm_sim.common.errors import PluginError
from psm_sim.losses import FormulaLoss, Loss, Poll, check_loss
from psm_sim.losses.user_loss_guard import IDLE_DOZES_MS, GuardedLoss, guarded_loss
from psm_sim.policies.lpsm import Lpsm

TIMES_MS = np.array([100.0, 400.0])


class Own(Loss):
    """A user's loss that returns what it is told to, once enough is held."""

    name = "own"

    def __init__(self, returned: Any, from_bytes: int = 0) -> None:
        self.returned, self.from_bytes, self.calls = returned, from_bytes, 0

    def __call__(self, poll: Poll, times_ms: np.ndarray) -> np.ndarray:
        """Return it."""
        self.calls += 1
        return self.returned if poll.buffered_bytes >= self.from_bytes else 1 / times_ms


@pytest.mark.parametrize(
    ("returned", "what"),
    [
        (np.array([1.0, np.nan]), "returned nan for 400 ms"),
        (np.array([np.inf, 1.0]), "returned inf for 100 ms"),
        (np.array([1.0, -2.5]), r"returned -2.5 for 400 ms"),
        (np.array([1.0]), r"returned shape \(1,\) for 2 candidate times"),
        (np.ones((2, 1)), r"returned shape \(2, 1\) for 2 candidate times"),
        (np.array(["a", "b"]), "returned an array of <U1"),
        (1.0, "returned float"),
        (None, "returned NoneType"),
    ],
)
@pytest.mark.parametrize("from_bytes", [0, 1500, 256 * 1500])
def test_a_useless_answer_is_named(returned: object, what: str, from_bytes: int) -> None:
    """With the loss, the value and the poll, also if it comes only once much is held."""
    with pytest.raises(
        PluginError,
        match=rf"Loss own failed .*slept_ms=100.0, buffered_bytes={from_bytes}, .*: it {what}; expected",
    ):
        check_loss(Own(returned, from_bytes), TIMES_MS)


def test_a_loss_that_changes_its_candidates_is_named() -> None:
    """They are the policy's own."""

    class Greedy(Loss):
        name = "greedy"

        def __call__(self, poll: Poll, times_ms: np.ndarray) -> np.ndarray:
            times_ms *= 2
            return 1 / times_ms

    with pytest.raises(PluginError, match=r"Loss greedy failed .* read-only"):
        check_loss(Greedy(), TIMES_MS)
    np.testing.assert_array_equal(TIMES_MS, [100.0, 400.0])


class Idle(Loss):
    """A user's loss of the polls, with more for a poll after a long doze if ``beyond_ms`` is finite."""

    name = "idle"

    def __init__(self, beyond_ms: float = np.inf) -> None:
        self.beyond_ms, self.calls = beyond_ms, 0

    def __call__(self, poll: Poll, times_ms: np.ndarray) -> np.ndarray:
        """Return it, with the latency of the published losses."""
        self.calls += 1
        latency = times_ms * times_ms * (1e-5 * poll.buffered_bytes / (2.0 * poll.slept_ms))
        return latency + (1 / times_ms if poll.slept_ms < self.beyond_ms else 2 / times_ms)

    def idle(self, times_ms: np.ndarray) -> np.ndarray:
        """Claim that it is always the shorter one."""
        return 1 / times_ms


def test_a_loss_of_one_s_own_with_idle_runs_like_the_built_in_one() -> None:
    """The same joules to the last digit, and as few events: the dozes without frames are learnt at once."""
    own = psm_sim.simulate(Lpsm(loss=Idle()), pages=20)
    built_in = psm_sim.simulate("lpsm:loss=(inverse:gamma=1e-5)", pages=20)
    formula = psm_sim.simulate("lpsm:loss=1e-5 * I * Ti**2 / (2*T) + 1/Ti", pages=20)
    assert own.energy_per_page_j == built_in.energy_per_page_j == formula.energy_per_page_j
    assert own["events"] == built_in["events"] == formula["events"]


def test_the_losses_of_empty_dozes_are_asked_for_once_a_run() -> None:
    """The dozes with frames remain, and the 20 that are compared at the start."""
    guarded, bare = guarded_loss(Idle()), Idle()
    assert (guarded.idle(TIMES_MS) == bare(Poll(300.0), TIMES_MS)).all()
    assert cast(Idle, cast(GuardedLoss, guarded).component).calls == IDLE_DOZES_MS.size


@pytest.mark.parametrize("beyond_ms", [0.5, 50.0, 9e5])
def test_a_loss_whose_idle_term_depends_on_the_doze_is_refused_the_shortcut(beyond_ms: float) -> None:
    """The error names the doze; it comes before the first page."""
    with pytest.raises(
        PluginError, match=r"Loss idle failed in idle\(\).*expected None, because .*slept_ms="
    ):
        psm_sim.simulate(Lpsm(loss=Idle(beyond_ms)), pages=1)


def test_probing_leaves_no_trace() -> None:
    """The copy is asked, not the loss itself."""
    own = Own(np.ones(2))
    check_loss(own, TIMES_MS)
    assert own.calls == 0


@pytest.mark.parametrize(
    ("formula", "what"), [("50 - Ti", "-50.0 for 100 ms"), ("9**9**9", "inf"), ("log(-Ti)", "nan")]
)
def test_a_formula_out_of_range_is_shown(formula: str, what: str) -> None:
    """Without a warning on the way."""
    with pytest.raises(PluginError, match=rf"Loss formula '.*' failed .*: it returned {what}"):
        check_loss(FormulaLoss(formula), TIMES_MS)
