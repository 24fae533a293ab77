"""Creation of losses from specs, formulas and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.losses import FormulaLoss, InverseLoss, make_loss

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
    """Return the path of a file with user-defined losses."""
    path = tmp_path / "my.py"
    path.write_text(CUBIC)
    return str(path)


def test_an_expression_gives_a_formula_loss() -> None:
    """The name of a variable alone is an expression."""
    assert make_loss("1/Ti") == FormulaLoss("1/Ti")
    assert make_loss("gamma", gamma=3.0) == FormulaLoss("gamma", 3.0)
    assert make_loss("Ti-T") == FormulaLoss("Ti-T")
    assert make_loss("I if T else 3") == FormulaLoss("I if T else 3")


def test_a_file_gives_a_user_defined_loss(file: str) -> None:
    """The constructor has the parameters of the loss."""
    assert make_loss(f"{file}:Cubic").gamma == 1e-9
    assert make_loss(f"{file}:Cubic:delta=2,gamma=1e-3").delta == 2
    assert make_loss(f"{file}:Cubic", gamma=0.5).gamma == 0.5


@pytest.mark.parametrize("name", ["inverse-lgo", "nope", "", "lambda: 1", "True"])
def test_the_error_for_an_unknown_name_lists_the_losses(name: str) -> None:
    """The message does not call it an invalid formula."""
    with pytest.raises(InputError, match=r"Unknown loss .*expected one of inverse, inverse-log, .*FILE"):
        make_loss(name)


def test_a_loss_object_is_returned_unchanged_and_a_spec_is_accepted() -> None:
    """A spec is a name with parameters, or a formula."""
    loss = InverseLoss()
    assert make_loss(loss) is loss
    assert make_loss(Spec("inverse").with_("gamma", 0.5)) == InverseLoss(0.5)
    assert make_loss(Spec.parse("1/Ti", "loss")) == FormulaLoss("1/Ti")


@pytest.mark.parametrize(
    ("loss", "gamma", "message"),
    [
        ("inverse-lgo", None, r"Did you mean 'inverse-log'\?"),
        ("__import__('os').system('id')", None, r"__import__\('os'\).system\('id'\).*not allowed; expected"),
        (3, None, r"loss must be a name, a formula, FILE.py:CLASS or a Loss, got 3"),
        ("{file}:Plain", 0.5, r"gamma=0.5 has no effect, because loss .*Plain has no gamma"),
        ("inverse:gamma=1", 0.5, r"gamma=0.5 conflicts with gamma in loss 'inverse:gamma=1'"),
        (InverseLoss(), 0.5, r"gamma=0.5 conflicts with a Loss instance"),
    ],
)
def test_an_invalid_loss_is_an_error(file: str, loss: object, gamma: float | None, message: str) -> None:
    """The message has the value and the nearest valid choice."""
    argument = loss.format(file=file) if isinstance(loss, str) else loss
    with pytest.raises(InputError, match=message):
        make_loss(argument, gamma=gamma)  # type: ignore[arg-type]
