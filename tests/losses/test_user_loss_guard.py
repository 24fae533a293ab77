"""Guard of user-defined losses: errors before the run."""

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
    """Loss that returns *returned* from a number of buffered bytes on."""

    name = "own"

    def __init__(self, returned: Any, from_bytes: int = 0) -> None:
        self.returned, self.from_bytes, self.calls = returned, from_bytes, 0

    def __call__(self, poll: Poll, times_ms: np.ndarray) -> np.ndarray:
        """Return *returned*, or valid losses for fewer bytes."""
        self.calls += 1
        return self.returned if poll.buffered_bytes >= self.from_bytes else 1 / times_ms


@pytest.mark.parametrize(
    ("returned", "message"),
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
def test_the_error_for_an_invalid_loss_has_the_invalid_value(
    returned: object, message: str, from_bytes: int
) -> None:
    """The error has the loss, the value and the poll, even if the loss is invalid only for many bytes."""
    with pytest.raises(
        PluginError,
        match=rf"Loss own failed .*slept_ms=100.0, buffered_bytes={from_bytes}, .*: it {message}; expected",
    ):
        check_loss(Own(returned, from_bytes), TIMES_MS)


def test_a_loss_that_changes_its_candidates_is_an_error() -> None:
    """The candidates belong to the policy."""

    class Greedy(Loss):
        name = "greedy"

        def __call__(self, poll: Poll, times_ms: np.ndarray) -> np.ndarray:
            times_ms *= 2
            return 1 / times_ms

    with pytest.raises(PluginError, match=r"Loss greedy failed .* read-only"):
        check_loss(Greedy(), TIMES_MS)
    np.testing.assert_array_equal(TIMES_MS, [100.0, 400.0])


class Idle(Loss):
    """Loss with a larger idle term after a doze of more than ``beyond_ms``."""

    name = "idle"

    def __init__(self, beyond_ms: float = np.inf) -> None:
        self.beyond_ms, self.calls = beyond_ms, 0

    def __call__(self, poll: Poll, times_ms: np.ndarray) -> np.ndarray:
        """Return the idle term plus the latency term of the published losses."""
        self.calls += 1
        latency = times_ms * times_ms * (1e-5 * poll.buffered_bytes / (2.0 * poll.slept_ms))
        return latency + (1 / times_ms if poll.slept_ms < self.beyond_ms else 2 / times_ms)

    def idle(self, times_ms: np.ndarray) -> np.ndarray:
        """Return the idle term of short dozes."""
        return 1 / times_ms


def test_a_user_defined_loss_with_an_idle_method_has_as_few_events_as_the_built_in_loss() -> None:
    """Dozes without frames are learnt at once, with the same energy."""
    own = psm_sim.simulate(Lpsm(loss=Idle()), pages=20)
    built_in = psm_sim.simulate("lpsm:loss=(inverse:gamma=1e-5)", pages=20)
    formula = psm_sim.simulate("lpsm:loss=1e-5 * I * Ti**2 / (2*T) + 1/Ti", pages=20)
    assert own.energy_per_page_j == built_in.energy_per_page_j == formula.energy_per_page_j
    assert own["events"] == built_in["events"] == formula["events"]


def test_losses_of_empty_dozes_are_computed_once_per_run() -> None:
    """Exceptions are the dozes with frames, and the 20 comparisons at the start."""
    guarded, bare = guarded_loss(Idle()), Idle()
    assert (guarded.idle(TIMES_MS) == bare(Poll(300.0), TIMES_MS)).all()
    assert cast(Idle, cast(GuardedLoss, guarded).component).calls == IDLE_DOZES_MS.size


@pytest.mark.parametrize("beyond_ms", [0.5, 50.0, 9e5])
def test_a_loss_whose_idle_method_depends_on_the_doze_is_an_error_before_the_run(beyond_ms: float) -> None:
    """The message names the doze."""
    with pytest.raises(
        PluginError, match=r"Loss idle failed in idle\(\).*expected None, because .*slept_ms="
    ):
        psm_sim.simulate(Lpsm(loss=Idle(beyond_ms)), pages=1)


def test_the_checks_of_the_guard_do_not_change_the_loss() -> None:
    """The guard checks a copy of the loss."""
    own = Own(np.ones(2))
    check_loss(own, TIMES_MS)
    assert own.calls == 0


@pytest.mark.parametrize(
    ("formula", "message"), [("50 - Ti", "-50.0 for 100 ms"), ("9**9**9", "inf"), ("log(-Ti)", "nan")]
)
def test_the_error_for_a_formula_out_of_range_has_the_computed_value(formula: str, message: str) -> None:
    """NumPy does not warn."""
    with pytest.raises(PluginError, match=rf"Loss formula '.*' failed .*: it returned {message}"):
        check_loss(FormulaLoss(formula), TIMES_MS)
