"""A replay in compiled rounds polls when one by NumPy does; benchmarks/compiled.py takes longer ones."""

from __future__ import annotations

import pytest

from psm_sim.learning import learn_alpha_backends
from psm_sim.learning.numba_kernel import learn_alpha_kernel
from psm_sim.replay.polling_grid import PollingGrid
from psm_sim.replay.replay_config import ReplayConfig
from psm_sim.replay.trace_replay import ReplayedClient, replay_trace

LOSSES = ("inverse", "inverse-log:gamma=1e-5", "constrained:target_ms=150", "gamma * I * Ti + 1/sqrt(Ti)")


def replayed(wanted: str, loss: str, seed: int = 1, **given) -> ReplayedClient:
    """Return one client's replay with Learn-alpha, compiled as *wanted*."""
    method = ReplayConfig(loss=loss, learner=f"learn-alpha:compiled={wanted}", **given)
    (client,) = replay_trace("ucb", method, pages=10, seed=seed, history=True)
    return client


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("seed", "horizon", "round_ms"), [(1, 27_000, 0.0), (2, 300, 0.0), (3, 2_700, 100.0)]
)
def test_both_ways_poll_at_the_same_times(loss: str, seed: int, horizon: int, round_ms: float) -> None:
    """Each poll to the microsecond, and the weights with which it was made within 1e-9."""
    pytest.importorskip("numba", reason="Numba comes with psm_sim[fast]")
    clock = PollingGrid(round_ms=round_ms)
    one, many = (
        replayed(wanted, loss, seed, horizon=horizon, clock=clock, polls=1_000) for wanted in ("yes", "no")
    )
    assert one.history is not None
    assert many.history is not None
    for fact in ("slept_ms", "buffered_bytes"):
        assert one.history.beginning.facts[fact].tolist() == many.history.beginning.facts[fact].tolist()
    assert abs(one.history.beginning.weights - many.history.beginning.weights).max() < 1e-9
    assert one.replay.mixture == pytest.approx(many.replay.mixture, rel=1e-9)


@pytest.mark.parametrize("wanted", ["no", "yes"])
def test_a_mean_on_the_boundary_is_rounded_up_in_both_ways(wanted: str, monkeypatch) -> None:
    """Where all polling times cost the same the mean stays 550 ms: 5.5 units but for the last bits."""
    monkeypatch.setattr(learn_alpha_backends, "compile_kernel", lambda: learn_alpha_kernel)
    found = replayed(wanted, "1", clock=PollingGrid(round_ms=100.0), horizon=50, polls=200).replay
    assert (found.shortest_us, found.longest_us) == (600_000, 600_000)


def test_the_result_says_how_it_was_learnt(monkeypatch) -> None:
    """The learner with its parameter, and the horizon that it has used."""
    monkeypatch.setattr(learn_alpha_backends, "compile_kernel", lambda: learn_alpha_kernel)
    parameters = replayed("yes", "inverse", horizon=5, polls=3).method.parameters
    assert (parameters["learner"], parameters["horizon"]) == ("learn-alpha:compiled=yes", 5)
