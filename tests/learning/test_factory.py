"""Learners by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from psm_sim.common.errors import InputError
from psm_sim.learning import LearnAlpha, make_learner, switching_rates
from psm_sim.policies.lpsm import Lpsm

OWN = """
from psm_sim.learning import FixedShare

class Mine(FixedShare):
    name = "mine"
    def __init__(self, n_experts, alpha=0.25):
        super().__init__(n_experts, alpha)
"""


def test_learn_alpha_has_the_switching_rates_that_belong_to_the_horizon() -> None:
    learn = make_learner("learn-alpha", 12, 27_000)
    assert isinstance(learn, LearnAlpha)
    assert learn.n_experts == 12
    assert learn.rates.tolist() == switching_rates(27_000).tolist()


def test_a_user_defined_learner_is_created_from_its_file(tmp_path: Path) -> None:
    """The learner has the parameters of its spec."""
    file = tmp_path / "my.py"
    file.write_text(OWN)
    assert make_learner(f"{file}:Mine", 3, 10).alpha == 0.25
    assert make_learner(f"{file}:Mine:alpha=0.5", 3, 10).alpha == 0.5


@pytest.mark.parametrize("alpha", [0.0, 5e-7, 0.1, 1 / 3, 1.0])
def test_the_learner_of_lpsm_has_exactly_the_switching_rate_alpha(alpha: float) -> None:
    """A fixed rate has no other parameter."""
    policy = Lpsm(alpha=alpha)
    policy.start(0.1)
    assert policy.learner.alpha == alpha


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "learn",
            "Unknown learner 'learn'; expected one of learn-alpha, .*FILE.py:CLASS",
        ),
        ("learn-alpha:rates=3", "learner learn-alpha has no parameter 'rates'; expected no parameters"),
        ("learn-alpha:n_experts=3", "learner learn-alpha has no parameter 'n_experts'"),
    ],
)
def test_an_invalid_learner_is_an_error_of_one_sentence(text: str, message: str) -> None:
    """A text cannot set the arguments that the program sets."""
    with pytest.raises(InputError, match=message):
        make_learner(text, 3, 10)


def test_too_many_weights_are_an_error() -> None:
    """Learn-alpha has a weight per expert and switching rate: 259 rates for 27,000 polls."""
    message = "learner learn-alpha: 80000 experts with 259 switching rates for 27000 polls exceed 20,000,000"
    with pytest.raises(InputError, match=message):
        make_learner("learn-alpha", 80_000, 27_000)
