"""Polling times of the experts, and the grid to which polling times are rounded."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_MS
from psm_sim.common.parameters import check_all, parameter
from psm_sim.policies.helpers.polling_time_grid import polling_times_ms


@dataclass(frozen=True)
class PollingGrid:
    """Parameters of the available polling times."""

    min_ms: float = parameter(
        100.0, "shortest polling time among the experts", unit="ms", at_least=1, at_most=MAX_MS
    )
    max_ms: float = parameter(
        1000.0, "longest polling time among the experts", unit="ms", at_least=1, at_most=MAX_MS
    )
    step_ms: float = parameter(
        100.0, "spacing of the experts' polling times", unit="ms", above=0, at_most=MAX_MS
    )
    round_ms: float = parameter(
        0.0,
        "unit to which polling times are rounded, within the experts' range; 0: 1 microsecond "
        "(the simulated LPSM uses 100)",
        unit="ms",
        at_least=0,
        at_most=MAX_MS,
    )

    def __post_init__(self) -> None:
        check_all(self, "experts")
        lowest, highest = self.range_units
        if lowest > highest:
            raise InputError(
                f"experts: round_ms must be 0 or have a multiple from {self.min_ms:g} to {self.max_ms:g} ms, "
                f"got {self.round_ms:g}."
            )

    @property
    def times_ms(self) -> FloatArray:
        """Polling times of the experts in ms, shape (n,)."""
        return polling_times_ms(self.min_ms, self.max_ms, self.step_ms, "experts")

    @property
    def unit_us(self) -> int:
        """Grid unit of the polling times, in microseconds."""
        return max(1, round(self.round_ms * 1e3))

    @property
    def range_units(self) -> tuple[int, int]:
        """Shortest and longest polling time on the grid within the experts' range, in grid units."""
        shortest, longest = (self.times_ms[[0, -1]] * 1e3 / self.unit_us).tolist()
        # The tolerance keeps polling times on the grid despite rounding errors of the division.
        return max(1, ceil(shortest - 1e-9)), floor(longest + 1e-9)
