"""From what a user writes to a loss."""

from __future__ import annotations

from pathlib import Path

import pytest

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.losses import FormulaLoss, InverseLogLoss, InverseLoss, make_loss

CUBIC = """
from psm_sim.losses import Loss

class Cubic(Loss):
    name = "cubic"
    def __init__(self, gamma=1e-9, delta=0.0):
        self.gamma, self.delta = gamma, delta
    def __call__(self, poll, times_ms):
        return self.gamma * poll.buffered_bytes * times_ms**3 / poll.slept_ms + 1 / times_ms

class Plain(Loss):
    name = "plain"
    def __call__(self, poll, times_ms):
        return 1 / times_ms
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Return the path of a user's file."""
    path = tmp_path / "my.py"
    path.write_text(CUBIC)
    return str(path)


def test_names_give_the_built_in_losses() -> None:
    """With the parameters behind them, if any."""
    assert make_loss("inverse") == InverseLoss()
    assert make_loss("inverse-log:gamma=0.5") == InverseLogLoss(0.5)
    assert make_loss("inverse", gamma=0.25) == InverseLoss(0.25)


def test_arithmetic_gives_a_formula() -> None:
    """A name that is a variable counts, too."""
    assert make_loss("1/Ti") == FormulaLoss("1/Ti")
    assert make_loss("gamma", gamma=3.0) == FormulaLoss("gamma", 3.0)
    assert make_loss("Ti-T") == FormulaLoss("Ti-T")
    assert make_loss("I if T else 3") == FormulaLoss("I if T else 3")


def test_a_file_gives_a_users_own_loss(file: str) -> None:
    """Its parameters are those of its constructor."""
    assert make_loss(f"{file}:Cubic").gamma == 1e-9
    assert make_loss(f"{file}:Cubic:delta=2,gamma=1e-3").delta == 2
    assert make_loss(f"{file}:Cubic", gamma=0.5).gamma == 0.5


def test_a_loss_already_made_is_returned() -> None:
    """The very same object."""
    loss = InverseLoss()
    assert make_loss(loss) is loss


@pytest.mark.parametrize("name", ["inverse-lgo", "nope", "", "lambda: 1", "my.py", "True"])
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    """Rather than calling it a bad formula."""
    with pytest.raises(InputError, match=r"Unknown loss .*expected one of inverse, inverse-log, .*FILE"):
        make_loss(name)


def test_a_near_miss_is_hinted_at() -> None:
    """The nearest name is offered."""
    with pytest.raises(InputError, match=r"Did you mean 'inverse-log'\?"):
        make_loss("inverse-lgo")


def test_what_is_neither_text_nor_loss_is_refused() -> None:
    """A number is no formula."""
    with pytest.raises(InputError, match=r"loss must be a name, a formula, FILE.py:CLASS or a Loss, got 3"):
        make_loss(3)  # type: ignore[arg-type]


def test_a_spec_is_as_good_as_its_text() -> None:
    """Of a name with parameters, and of a formula."""
    assert make_loss(Spec("inverse").with_("gamma", 0.5)) == InverseLoss(0.5)
    assert make_loss(Spec.parse("1/Ti", "loss")) == FormulaLoss("1/Ti")


def test_gamma_for_a_loss_without_one_is_refused(file: str) -> None:
    """It would be ignored otherwise."""
    with pytest.raises(InputError, match=r"gamma=0.5 has no effect, because loss .*Plain has no gamma"):
        make_loss(f"{file}:Plain", gamma=0.5)


def test_gamma_given_twice_is_refused() -> None:
    """Once with the loss, once beside it."""
    with pytest.raises(InputError, match=r"gamma=0.5 conflicts with gamma in loss 'inverse:gamma=1'"):
        make_loss("inverse:gamma=1", gamma=0.5)


def test_gamma_for_a_loss_already_made_is_refused() -> None:
    """The loss has its own."""
    with pytest.raises(InputError, match=r"gamma=0.5 conflicts with a Loss instance"):
        make_loss(InverseLoss(), gamma=0.5)


def test_gamma_is_checked_against_the_losss_range() -> None:
    """A value from Python as well as one from text."""
    with pytest.raises(InputError, match=r"loss inverse: gamma must be a number > 0 .*, got -1"):
        make_loss("inverse", gamma=-1)
    with pytest.raises(InputError, match=r"loss inverse has no parameter 'gama'.*Did you mean 'gamma'"):
        make_loss("inverse:gama=1")
