"""Compiled rounds of Learn-alpha beside those by calls of NumPy; mostly without Numba, as Python loops."""

from __future__ import annotations

import copy
import json
import math
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.contracts.check_suite import Subject
from psm_sim.contracts.learner_state_checks import LEARNER_CHECKS
from psm_sim.learning import LearnAlpha, switching_rates
from psm_sim.learning import learn_alpha_backends as module
from psm_sim.learning.numba_kernel import compile_kernel, learn_alpha_kernel
from psm_sim.learning.numpy_backend import LazyNumpyBackend, NumpyBackend

N = 4
RATES = {
    "for 27,000 rounds": switching_rates(27_000)[::12],
    "one": np.array([0.3]),
    "tiny": np.array([1e-99, 1e-12, 1 - 1e-8]),
    "nothing kept": np.array([0.75, 0.7500001, 0.9]),
}
by_rates = pytest.mark.parametrize("rates", RATES.values(), ids=RATES)


@pytest.fixture
def loops(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Take the loops as Python runs them for what Numba compiles, and count their rounds."""
    counted = [0]

    def counting(*arrays: Any) -> float:
        counted[0] += 1
        return learn_alpha_kernel(*arrays)

    monkeypatch.setattr(module, "compile_kernel", lambda: counting)
    return counted


@pytest.fixture
def numba(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put a module in Numba's place, or None for a machine without it; compile nothing twice."""

    def put(found: ModuleType | None) -> None:
        monkeypatch.setitem(sys.modules, "numba", found)
        compile_kernel.cache_clear()

    yield put
    compile_kernel.cache_clear()


def table(seed: int, rounds: int = 150) -> Any:
    """Return losses of all sizes, with experts removed in some rounds, shape (rounds, N)."""
    rng = np.random.default_rng(seed)
    losses = rng.exponential(1.0, (rounds, N)) * rng.choice([1e-6, 0.1, 3.0, 1e4], (rounds, 1))
    losses[rng.random((rounds, N)) < 0.05] = math.inf
    losses[:, 0][np.isinf(losses).all(axis=1)] = 1.0
    return losses


def agree(one: LearnAlpha, other: LearnAlpha) -> bool:
    """Say whether all weights, over experts, over rates and at each rate, are within 1e-9."""
    pairs = (one.weights, other.weights), (one.rate_weights, other.rate_weights)
    levels = np.array(one.state()["weights"]), np.array(other.state()["weights"])
    return all(bool((abs(a - b) < 1e-9).all()) for a, b in (*pairs, levels))


@by_rates
@pytest.mark.parametrize("seed", [1, 2])
def test_unscaled_rounds_learn_what_scaled_ones_learn(rates: Any, seed: int) -> None:
    """Round by round: the weights, the rates' weights and the loss; reading them moves nothing."""
    unscaled, plain, scaled = (LearnAlpha(N, rates) for _ in range(3))
    assert isinstance(unscaled._backend, LazyNumpyBackend)
    scaled._backend = NumpyBackend(scaled._bank, scaled._rate_posterior, scaled._weights)
    for losses in table(seed):
        assert unscaled.update(losses) == pytest.approx(scaled.update(losses), rel=1e-9, abs=1e-12)
        assert np.abs(unscaled.weights - scaled.weights).max() < 1e-11
        assert np.abs(unscaled.rate_weights - scaled.rate_weights).max() < 1e-9
        plain.update(losses)
    assert (unscaled.weights == plain.weights).all()


@by_rates
@pytest.mark.parametrize("seed", [1, 2])
def test_a_compiled_round_learns_what_calls_of_numpy_learn(loops: list[int], rates: Any, seed: int) -> None:
    """Each mixture loss and each weight, round by round; also a rate that comes back from 1e-400."""
    one, many = LearnAlpha(N, rates, "yes"), LearnAlpha(N, rates)
    for row in table(seed):
        assert one.update(row) == pytest.approx(many.update(row), rel=1e-9, abs=1e-9)
        assert (abs(one.weights - many.weights) < 1e-9).all()
    assert agree(one, many)
    assert loops == [150]


def test_a_rate_that_was_as_good_as_ruled_out_comes_back(loops: list[int]) -> None:
    """A posterior of e^-2000 is not lost: long there is no switch, and then one in each round."""
    one, many = LearnAlpha(2, [1e-4, 0.5], "yes"), LearnAlpha(2, [1e-4, 0.5])
    steady, wild = [[0.0, 9.0]] * 3_000, [[0.0, 9.0], [9.0, 0.0]] * 300
    low = 1.0
    for row in [*steady, *wild]:
        one.update(row)
        many.update(row)
        low = min(low, one.rate_weights[1])
    assert low == 0.0
    assert one.rate_weights[1] > 0.99
    assert agree(one, many)


@by_rates
def test_a_state_goes_on_from_compiled_rounds_to_the_last_bit(loops: list[int], rates: Any) -> None:
    """Saved in the midst of what waits for its logarithms; calls of NumPy go on from it as well."""
    learner, rows = LearnAlpha(N, rates, "yes"), table(3)
    for row in rows[:61]:
        learner.update(row)
    state = json.loads(json.dumps(learner.state()))
    same, plain = LearnAlpha(N, rates, "yes"), LearnAlpha(N, rates)
    same.update(rows[0])
    for each in (same, plain):
        each.load_state(state)
        for row in rows[61:]:
            each.update(row)
    for row in rows[61:]:
        learner.update(row)
    assert same.state() == learner.state()
    assert agree(plain, learner)


def test_a_leap_between_compiled_rounds(loops: list[int]) -> None:
    """What it adds to the posterior joins what waited there."""
    rates = switching_rates(300)
    one, many = LearnAlpha(N, rates, "yes"), LearnAlpha(N, rates)
    idle = np.array([0.3, 0.2, 0.1, 0.05])
    for rows in (table(4, 9), table(5, 9)):
        for learner in (one, many):
            for row in rows:
                learner.update(row)
            ahead = learner.lookahead(idle)
            assert ahead is not None
            learner.fast_forward(ahead, 40)
    assert agree(one, many)
    assert one.rounds == many.rounds == 98


def test_a_copy_learns_by_itself(loops: list[int]) -> None:
    """Nothing that waits is shared with it."""
    learner = LearnAlpha(N, RATES["one"], "yes")
    learner.update([1.0, 2.0, 3.0, 4.0])
    twin, before = copy.deepcopy(learner), learner.state()
    twin.update([4.0, 3.0, 2.0, 1.0])
    assert learner.state() == before
    assert twin.weights[3] > learner.weights[3]


def test_auto_waits_until_it_pays(loops: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls of NumPy first, to the last bit; then compiled rounds."""
    monkeypatch.setattr(module, "NUMBA_AFTER_ROUNDS", 100)
    later, many = LearnAlpha(N, RATES["one"], "auto"), LearnAlpha(N, RATES["one"])
    for row in table(6, 100):
        assert later.update(row) == many.update(row)
    assert (later.state(), loops) == (many.state(), [0])
    for row in table(7):
        later.update(row)
        many.update(row)
    assert agree(later, many)
    assert loops == [150]
    later.load_state(many.state())
    assert later.state() == many.state()


@pytest.mark.parametrize("case", ["without Numba", "a rate of 1", "one expert"])
def test_auto_stays_with_numpy_where_nothing_else_can_be_had(numba: Any, monkeypatch: Any, case: str) -> None:
    """To the last bit, and without a word."""
    monkeypatch.setattr(module, "NUMBA_AFTER_ROUNDS", 3)
    if case == "without Numba":
        numba(None)
    else:
        monkeypatch.setattr(module, "compile_kernel", lambda: learn_alpha_kernel)
    rates, experts = [0.2, 1.0] if case == "a rate of 1" else [0.2], 1 if case == "one expert" else N
    auto, many = LearnAlpha(experts, rates, "auto"), LearnAlpha(experts, rates)
    for row in table(8, 9)[:, :experts]:
        assert auto.update(np.minimum(row, 9.0)) == many.update(np.minimum(row, 9.0))
    assert auto.state() == many.state()
    assert auto.weights.tolist() == many.weights.tolist()


@pytest.mark.parametrize(
    ("experts", "rates", "wanted", "words"),
    [
        (N, [0.2], "maybe", "compiled must be no, auto or yes, got 'maybe'"),
        (N, [0.2], True, "compiled must be no, auto or yes, got True"),
        (
            N,
            [0.2],
            "yes",
            r"compiled=yes requires Numba, which cannot be used .*; pip install 'psm_sim\[fast\]'",
        ),
        (
            N,
            [0.2, 1.0],
            "yes",
            "requires two or more experts and no switching rate whose weights need logarithms",
        ),
        (1, [0.2], "yes", "compiled=yes requires two or more experts"),
    ],
)
def test_what_cannot_be_compiled_is_said_in_a_sentence(
    numba: Any, experts: int, rates: list[float], wanted: Any, words: str
) -> None:
    """Before the first round."""
    numba(None)
    with pytest.raises(InputError, match=words):
        LearnAlpha(experts, rates, wanted)


@pytest.mark.parametrize("error", [RuntimeError("no locator available"), OSError("disk full"), None])
def test_where_no_folder_can_be_written_to_it_is_compiled_anyway(numba: Any, error: Exception | None) -> None:
    """Without a word, each time anew."""
    tried = []

    def njit(types: str, cache: bool = False, **options: Any) -> Any:
        tried.append(cache)
        if cache and error:
            raise error
        return lambda function: function

    found = ModuleType("numba")
    found.njit = njit
    numba(found)
    assert compile_kernel() is compile_kernel() is learn_alpha_kernel
    assert tried == ([True, False] if error else [True])


@pytest.mark.parametrize("check", LEARNER_CHECKS.names())
def test_compiled_by_numba_it_passes_every_check(check: str) -> None:
    """The same checks as of every learner."""
    pytest.importorskip("numba", reason="Numba comes with psm_sim[fast]")
    learner = LearnAlpha(5, switching_rates(50), "yes")
    assert LEARNER_CHECKS.run_one(check, Subject(learner)).fault == ""


def test_compiled_by_numba_it_agrees_over_thousands_of_rounds() -> None:
    """At the size of LPSM, 12 experts and 259 rates, whatever order the sums are taken in."""
    pytest.importorskip("numba", reason="Numba comes with psm_sim[fast]")
    one, many = (LearnAlpha(12, switching_rates(27_000), wanted) for wanted in ("yes", "no"))
    rng = np.random.default_rng(1)
    for row in rng.random((5_000, 12)) * rng.choice([1e-3, 1.0, 1e4], (5_000, 1)):
        assert one.update(row) == pytest.approx(many.update(row), rel=1e-9, abs=1e-9)
    assert agree(one, many)
