"""Switching comparator: the best sequences of experts with at most k switches, for all k at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError
from psm_sim.learning import input_checks

Experts = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SwitchingSequences:
    """Best sequences with at most k switches, k = 0 .. K.

    Attributes
    ----------
    totals : ndarray, shape (K + 1,)
        The cumulative loss of each, in nats; it never rises with k.
    """

    totals: FloatArray
    _ends: Experts = field(repr=False)
    _jumps: NDArray[np.bool_] = field(repr=False)
    _origins: NDArray[np.integer] = field(repr=False)

    def experts(self, switches: int) -> Experts:
        """Return the best sequence with at most *switches* switches: one expert per round, shape (T,)."""
        if not 0 <= input_checks.check_int(switches, "the number of switches", least=0) < self.totals.size:
            raise InputError(
                f"the number of switches is {switches}; expected at most {self.totals.size - 1}, as computed."
            )
        k, expert = switches, int(self._ends[switches])
        sequence = np.empty(len(self._jumps), dtype=np.intp)
        for t in range(len(sequence) - 1, -1, -1):
            sequence[t] = expert
            if self._jumps[t, k, expert]:
                k -= 1
                expert = int(self._origins[t, k])
        return sequence


def best_switching(losses: ArrayLike, switches: int) -> SwitchingSequences:
    """Find the best expert sequences with at most 0, 1, .. *switches* switches.

    Dynamic programming over V_t(k, i), the least loss of t rounds that end with expert i after at most k
    switches: V_t(k, i) = L(i, t) + min(V_{t-1}(k, i), min_j V_{t-1}(k-1, j)). O(T K n) time and T K n
    bytes, so that each of the sequences can be told.

    Parameters
    ----------
    losses : array_like, shape (T, n)
        The loss of each expert in each round, in nats.
    switches : int
        K, at least 0. More than T - 1 are allowed, but change nothing.
    """
    table = input_checks.check_loss_table(losses)
    rounds, n = table.shape
    most = input_checks.check_int(switches, "the number of switches", least=0)
    jumps = np.zeros((rounds, most + 1, n), dtype=np.bool_)
    # The smallest integers that hold an expert: this table and jumps grow with the number of rounds.
    origins = np.empty((rounds, most + 1), dtype=np.min_scalar_type(n))
    value, rows = np.tile(table[0], (most + 1, 1)), np.arange(most + 1)
    for t in range(1, rounds):
        origin = value.argmin(axis=1)
        origins[t] = origin
        jumped = value[rows, origin][:-1, None]
        # Less, not less or equal: of two equal sequences the one without the switch is kept.
        np.less(jumped, value[1:], out=jumps[t, 1:])
        np.minimum(value[1:], jumped, out=value[1:])
        np.add(value, table[t], out=value)
    ends = value.argmin(axis=1)
    return SwitchingSequences(value[rows, ends], ends, jumps, origins)
