"""Best sequences of experts with at most k switches, for all k at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.learning import input_checks

Experts = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SwitchingSequences:
    """Best sequences of experts with at most k switches, k = 0, ..., K.

    Attributes
    ----------
    totals : ndarray, shape (K + 1,)
        Cumulative loss of each sequence, in nats. It never increases with k.
    """

    totals: FloatArray
    _ends: Experts = field(repr=False)
    _has_switched: NDArray[np.bool_] = field(repr=False)
    _origins: NDArray[np.integer] = field(repr=False)

    def experts(self, switches: int) -> Experts:
        """Return the best sequence with at most *switches* switches, shape (T,)."""
        if not 0 <= input_checks.check_int(switches, "the number of switches", minimum=0) < self.totals.size:
            raise InputError(
                f"the number of switches must be at most {self.totals.size - 1}, got {switches}."
            )
        k, expert = switches, int(self._ends[switches])
        sequence = np.empty(len(self._has_switched), dtype=np.intp)
        for t in range(len(sequence) - 1, -1, -1):
            sequence[t] = expert
            if self._has_switched[t, k, expert]:
                k -= 1
                expert = int(self._origins[t, k])
        return sequence


def best_switching(losses: ArrayLike, switches: int) -> SwitchingSequences:
    """Find the best expert sequences with at most 0, 1, ..., *switches* switches.

    Dynamic programming over V_t(k, i), the minimum loss of t rounds that end with expert i after at most k
    switches: V_t(k, i) = L(i, t) + min(V_{t-1}(k, i), min_j V_{t-1}(k-1, j)). It takes O(T K n) time and T K
    n bytes, which allow each sequence to be reconstructed.

    Parameters
    ----------
    losses : array_like, shape (T, n)
        Loss of each expert in each round, in nats.
    switches : int
        Maximum number of switches K, at least 0. More than T - 1 switches have no effect.
    """
    table = input_checks.check_loss_table(losses)
    rounds, n = table.shape
    max_switches = input_checks.check_int(switches, "the number of switches", minimum=0)
    has_switched = np.zeros((rounds, max_switches + 1, n), dtype=np.bool_)
    # Use the smallest integer type, because this table and has_switched grow with the number of rounds.
    origins = np.empty((rounds, max_switches + 1), dtype=np.min_scalar_type(n))
    value, rows = np.tile(table[0], (max_switches + 1, 1)), np.arange(max_switches + 1)
    for t in range(1, rounds):
        origin = value.argmin(axis=1)
        origins[t] = origin
        switched_value = value[rows, origin][:-1, None]
        # Strictly less: of two equal sequences, the one without the switch is preferred.
        np.less(switched_value, value[1:], out=has_switched[t, 1:])
        np.minimum(value[1:], switched_value, out=value[1:])
        np.add(value, table[t], out=value)
    ends = value.argmin(axis=1)
    return SwitchingSequences(value[rows, ends], ends, has_switched, origins)
