"""Learners by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.learning import FixedShare, LearnAlpha, StaticExpert, make_learner, switching_rates
from psm_sim.policies.lpsm import Lpsm

OWN = """
from psm_sim.learning import FixedShare

class Mine(FixedShare):
    name = "mine"
    def __init__(self, n_experts, alpha=0.25):
        super().__init__(n_experts, alpha)
"""


def test_each_name_gives_its_learner() -> None:
    """With the number of experts, and the switching rates for the horizon."""
    static, share, learn = (
        make_learner(each, 12, 27_000) for each in ("static-expert", "fixed-share:alpha=0.1", "learn-alpha")
    )
    assert (type(static), type(share), type(learn)) == (StaticExpert, FixedShare, LearnAlpha)
    assert (static.n_experts, share.n_experts, learn.n_experts) == (12, 12, 12)
    assert share.alpha == 0.1
    assert learn.rates.tolist() == switching_rates(27_000).tolist()


def test_a_users_learner_is_made_from_its_file(tmp_path: Path) -> None:
    """Its own parameters behind it."""
    file = tmp_path / "my.py"
    file.write_text(OWN)
    assert make_learner(f"{file}:Mine", 3, 10).alpha == 0.25
    assert make_learner(f"{file}:Mine:alpha=0.5", 3, 10).alpha == 0.5


@pytest.mark.parametrize("alpha", [0.0, 5e-7, 0.1, 1 / 3, 1.0])
def test_the_rate_of_lpsm_reaches_its_learner_to_the_last_bit(alpha: float) -> None:
    """Also through the text of a spec."""
    assert make_learner(Spec("fixed-share").with_("alpha", alpha), 2, 1).alpha == alpha
    policy = Lpsm(alpha=alpha)
    policy.start(0.1)
    assert policy.learner.alpha == alpha


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "learn",
            "Unknown learner 'learn'; expected one of static-expert, .*learn-alpha, .*FILE.py:CLASS",
        ),
        ("fixed-share", "learner fixed-share: alpha is missing; specify alpha=value"),
        ("fixed-share:alpha=2", "alpha must be a number from 0 to 1, got 2"),
        ("fixed-share:alpha=much", "alpha must be a number from 0 to 1, got 'much'"),
        ("learn-alpha:rates=3", "learner learn-alpha has no parameter 'rates'; expected no parameters"),
        ("static-expert:n_experts=3", "learner static-expert has no parameter 'n_experts'"),
    ],
)
def test_what_cannot_be_made_is_said_in_a_sentence(text: str, message: str) -> None:
    """What the program gives, a text cannot."""
    with pytest.raises(InputError, match=message):
        make_learner(text, 3, 10)


def test_more_weights_than_a_round_can_update_are_refused() -> None:
    """Learn-alpha has one for each expert and switching rate: 259 for 27,000 polls."""
    message = "learner learn-alpha: 80000 experts with 259 switching rates for 27000 polls exceed 20,000,000"
    with pytest.raises(InputError, match=message):
        make_learner("learn-alpha", 80_000, 27_000)
