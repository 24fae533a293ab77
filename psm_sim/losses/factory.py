"""Losses by name, by formula, or from a user's file."""

from __future__ import annotations

import re

from psm_sim.component_spec import Spec
from psm_sim.errors import InputError
from psm_sim.losses.base import Loss
from psm_sim.losses.formula import FormulaLoss
from psm_sim.parameters import parameters_of
from psm_sim.registry import Registry, unknown_name_error

LOSSES: Registry[Loss] = Registry(
    "loss",
    Loss,
    {
        "inverse": "psm_sim.losses.published:InverseLoss",
        "inverse-log": "psm_sim.losses.published:InverseLogLoss",
        "arrival-aware": "psm_sim.losses.arrival_aware:ArrivalAware",
        "retrieval-energy": "psm_sim.losses.retrieval_energy:RetrievalEnergy",
        "constrained": "psm_sim.losses.constrained:ConstrainedLoss",
    },
    "psm_sim.losses",
)
"""The losses that have a name; a new loss is one more line here."""

_NAME_LIKE = re.compile(r"[A-Za-z_][\w.\-]*(:.*)?", re.DOTALL)


def make_loss(what: str | Spec | Loss, gamma: float | None = None) -> Loss:
    """Return the loss that *what* names.

    Parameters
    ----------
    what
        A built-in name or ``FILE.py:CLASS``, either with ``:key=value,...`` behind it, as text or spec;
        a formula; or a loss already made, which is returned as it is.
    gamma
        The loss's own parameter of that name; ``None`` leaves its default.

    Raises
    ------
    InputError
        If there is no such loss, a parameter of it is wrong, the formula is refused, or the loss has
        no ``gamma`` to set.
    """
    if isinstance(what, Loss):
        if gamma is not None:
            raise InputError(
                f"gamma is {gamma!r} for a loss already made; expected it given to the loss itself."
            )
        return what
    if not isinstance(what, (str, Spec)):
        raise InputError(f"loss is {what!r}; expected a name, a formula, FILE.py:CLASS or a Loss.")
    if LOSSES.knows(str(what)):
        return _named(Spec.of(what, "loss"), gamma)
    return _formula(str(what), gamma)


def _named(spec: Spec, gamma: float | None) -> Loss:
    given = {} if gamma is None else {"gamma": gamma}
    if given and "gamma" not in parameters_of(LOSSES.get(spec.name)):
        raise InputError(f"gamma is {gamma!r}, but loss {spec.name} takes no gamma; leave gamma out.")
    if given and "gamma" in spec.values:
        raise InputError(f"gamma is given twice, as {gamma!r} and in loss {str(spec)!r}; give it once.")
    return LOSSES.create(spec, **given)


def _formula(text: str, gamma: float | None) -> Loss:
    try:
        return FormulaLoss(text) if gamma is None else FormulaLoss(text, gamma)
    except InputError:
        if text.strip() and not _NAME_LIKE.fullmatch(text):
            raise
    names = [*LOSSES.names(), *LOSSES.installed(), "FILE.py:CLASS", "a formula"]
    raise unknown_name_error("loss", text.partition(":")[0], names)
