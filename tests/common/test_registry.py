"""Components by name."""

from __future__ import annotations

import pytest

from psm_sim.common.errors import InputError
from psm_sim.common.registry import Registry
from psm_sim.losses import Loss

LOSSES: Registry[Loss] = Registry("loss", Loss, {"inverse": "psm_sim.losses.published_losses:InverseLoss"})


def test_the_name_of_a_preset_is_recognized() -> None:
    """A user may take it for a trace or a topology."""
    with pytest.raises(InputError, match="household is a preset; use --preset household"):
        LOSSES.create("household")


def test_a_text_that_begins_with_a_name_or_a_class_is_known() -> None:
    assert LOSSES.knows("inverse:gamma=1")
    assert LOSSES.knows("my.py:Mine:a=1")
    assert not LOSSES.knows("1/Ti")
    assert not LOSSES.knows("my.py")
