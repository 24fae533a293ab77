"""Registry of the losses."""

from __future__ import annotations

import re

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import parameters_of
from psm_sim.common.registry import Registry, unknown_name_error
from psm_sim.losses.base import Loss
from psm_sim.losses.formula_loss import FormulaLoss

LOSSES: Registry[Loss] = Registry(
    "loss",
    Loss,
    {
        "inverse": "psm_sim.losses.published_losses:InverseLoss",
        "inverse-log": "psm_sim.losses.published_losses:InverseLogLoss",
        "arrival-aware": "psm_sim.losses.extended_losses:ArrivalAware",
        "retrieval-energy": "psm_sim.losses.extended_losses:RetrievalEnergy",
        "constrained": "psm_sim.losses.extended_losses:ConstrainedLoss",
    },
    "psm_sim.losses",
)
"""Built-in losses by name. A new loss needs one line here."""

_NAME_LIKE = re.compile(r"[A-Za-z_][\w.\-]*(:.*)?", re.DOTALL)


def make_loss(loss: str | Spec | Loss, gamma: float | None = None) -> Loss:
    """Return the loss that a name, formula or spec describes.

    Parameters
    ----------
    loss : str, Spec or Loss
        Built-in name or ``FILE.py:CLASS``, with parameters as in ``NAME:key=value,...``; such a text as a
        Spec; a formula; or a loss instance, which is returned unchanged.
    gamma : float or None
        Parameter ``gamma`` of the loss; None keeps its default.

    Raises
    ------
    InputError
        If the loss is unknown, a parameter or the formula is invalid, or the loss has no parameter ``gamma``.
    """
    if isinstance(loss, Loss):
        if gamma is not None:
            raise InputError(
                f"gamma={gamma!r} conflicts with a Loss instance; set the gamma of the instance."
            )
        return loss
    if not isinstance(loss, (str, Spec)):
        raise InputError(f"loss must be a name, a formula, FILE.py:CLASS or a Loss, got {loss!r}.")
    if LOSSES.knows(str(loss)):
        return _make_by_name(Spec.of(loss, "loss"), gamma)
    return _make_formula(str(loss), gamma)


def _make_by_name(spec: Spec, gamma: float | None) -> Loss:
    arguments = {} if gamma is None else {"gamma": gamma}
    if arguments and "gamma" not in parameters_of(LOSSES.get(spec.name)):
        raise InputError(f"gamma={gamma!r} has no effect, because loss {spec.name} has no gamma.")
    if arguments and "gamma" in spec.values:
        raise InputError(f"gamma={gamma!r} conflicts with gamma in loss {str(spec)!r}.")
    return LOSSES.create(spec, **arguments)


def _make_formula(text: str, gamma: float | None) -> Loss:
    try:
        return FormulaLoss(text) if gamma is None else FormulaLoss(text, gamma)
    except InputError:
        if text.strip() and not _NAME_LIKE.fullmatch(text):
            raise
    names = [*LOSSES.names(), *LOSSES.installed(), "FILE.py:CLASS", "a formula"]
    raise unknown_name_error("loss", text.partition(":")[0], names)
