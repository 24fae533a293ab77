"""Loss given by a formula."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.input_limits import MAX_WEIGHT
from psm_sim.common.parameters import check_all, parameter
from psm_sim.losses.base import Loss
from psm_sim.losses.formula_nodes import Node, Number, constant_fold, evaluate_node
from psm_sim.losses.formula_parser import parse_expression
from psm_sim.poll import Poll

NAMES = ("I", "T", "Ti", "gamma")
"""Variables of a formula."""


@dataclass
class FormulaLoss(Loss):
    """Loss given by a formula, such as ``gamma * I * Ti**2 / (2*T) + 1/log(Ti)``.

    I is the number of buffered bytes, T the time slept in ms, and Ti the candidate polling times in ms. The
    Python interpreter does not evaluate the text, see :mod:`psm_sim.losses.formula_parser`. Subexpressions
    without I and T are evaluated only once for a set of candidates.

    Raises
    ------
    InputError
        If the text is not arithmetic on these four names. The message quotes the invalid part.
    """

    name = "formula"
    formula: str = parameter("1/Ti", "arithmetic on I, T, Ti and gamma")
    gamma: float = parameter(1 / 1.2e3, "value of gamma in the formula", at_least=0.0, at_most=MAX_WEIGHT)
    _tree: Node = field(init=False, repr=False, compare=False)
    _bound: Node = field(init=False, repr=False, compare=False)
    _key: bytes = field(default=b"", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_all(self, "loss formula")
        self._tree = parse_expression(self.formula, NAMES)
        self._bound = Number(np.float64(0.0))

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Return the loss of each candidate polling time, shape (n,), in nats."""
        with np.errstate(all="ignore"):
            if times_ms.tobytes() != self._key:
                self._bind(times_ms)
            values = {"I": np.float64(poll.buffered_bytes), "T": np.float64(poll.slept_ms)}
            losses = evaluate_node(self._bound, values)
        return losses if losses.shape == times_ms.shape else np.full(times_ms.shape, losses)

    def _bind(self, times_ms: FloatArray) -> None:
        values = {"Ti": times_ms.copy(), "gamma": np.float64(self.gamma)}
        self._bound = constant_fold(self._tree, values)
        # A formula of Ti and gamma alone is now a single array, returned by every call, so it is read-only.
        if isinstance(self._bound, Number) and isinstance(self._bound.value, np.ndarray):
            self._bound.value.flags.writeable = False
        self._key = times_ms.tobytes()

    def __str__(self) -> str:
        return self.formula
