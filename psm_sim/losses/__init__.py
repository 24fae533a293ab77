"""Loss functions of polling times, in nats, which trade energy against latency."""

from psm_sim.losses.base import Loss
from psm_sim.losses.extended_losses import ArrivalAware, ConstrainedLoss, RetrievalEnergy
from psm_sim.losses.factory import LOSSES, make_loss
from psm_sim.losses.formula_loss import FormulaLoss
from psm_sim.losses.published_losses import InverseLogLoss, InverseLoss
from psm_sim.losses.user_loss_guard import check_loss
from psm_sim.poll import Context, Poll

__all__ = [
    "LOSSES",
    "ArrivalAware",
    "ConstrainedLoss",
    "Context",
    "FormulaLoss",
    "InverseLogLoss",
    "InverseLoss",
    "Loss",
    "Poll",
    "RetrievalEnergy",
    "check_loss",
    "make_loss",
]
