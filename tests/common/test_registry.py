"""Components by name."""

from __future__ import annotations

import pytest

from psm_sim.common.errors import InputError
from psm_sim.common.registry import Registry
from psm_sim.losses import InverseLoss, Loss

LOSSES: Registry[Loss] = Registry("loss", Loss, {"inverse": "psm_sim.losses.published_losses:InverseLoss"})


def test_a_name_gives_its_class_and_a_specification_an_instance() -> None:
    """Imported when first asked for."""
    assert LOSSES.names() == ["inverse"]
    assert LOSSES.get("inverse") is InverseLoss
    assert LOSSES.create("inverse:gamma=0.5") == InverseLoss(0.5)
    assert LOSSES.create("inverse", gamma=0.5) == InverseLoss(0.5)


def test_an_unknown_name_is_named_with_the_nearest() -> None:
    """And with all there are."""
    with pytest.raises(InputError) as caught:
        LOSSES.create("invers")
    assert str(caught.value) == (
        "Unknown loss 'invers'; expected one of inverse, FILE.py:CLASS. Did you mean 'inverse'?"
    )


def test_the_name_of_a_preset_is_recognized() -> None:
    """A user may take it for a trace or a topology."""
    with pytest.raises(InputError, match="household is a preset; use --preset household"):
        LOSSES.create("household")


def test_a_text_that_begins_with_a_name_or_a_class_is_known() -> None:
    """A formula is not."""
    assert LOSSES.knows("inverse:gamma=1")
    assert LOSSES.knows("my.py:Mine:a=1")
    assert not LOSSES.knows("1/Ti")
    assert not LOSSES.knows("my.py")
