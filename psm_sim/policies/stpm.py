"""Self-tuning power management (STPM)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import fsum
from typing import ClassVar

from psm_sim.common.input_limits import MAX_MS, MAX_WEIGHT
from psm_sim.common.parameters import parameter
from psm_sim.policies.base import Frame, Rest
from psm_sim.policies.helpers.last_frame_policy import LastFramePolicy
from psm_sim.policies.helpers.outstanding_requests import is_useful
from psm_sim.poll import Poll


@dataclass
class Stpm(LastFramePolicy):
    """Policy that stays awake for a run of transfers if this is cheaper than dozing (STPM).

    The policy follows Anand, Nightingale and Flinn (MobiCom 2003). The lengths of past runs predict how many
    transfers are still to come. Delay has a price per second, and switching the mode costs energy. A transfer
    is a SYN or payload that the station sends. Transfers closer than ``gap_ms`` belong to one run. The
    application hints of the original are not modelled.
    """

    name: ClassVar[str] = "stpm"

    delay_w: float = parameter(1.0, "price of delay", unit="J/s", at_least=0, at_most=MAX_WEIGHT)
    switch_j: float = parameter(
        0.0, "energy of leaving and re-entering power-save mode", unit="J", at_least=0, at_most=100
    )
    gap_ms: float = parameter(
        500.0, "longest gap between two transfers of a run", unit="ms", above=0, at_most=MAX_MS
    )
    memory: int = parameter(100, "number of recorded runs", at_least=1, at_most=10_000, expert=True)

    def start(self, beacon_s: float) -> None:
        """Start without any recorded run."""
        super().start(beacon_s)
        self._runs, self._gaps_s = deque[int](maxlen=self.memory), deque[float](maxlen=self.memory)
        self._transfers, self._transfer_s = 0, 0.0

    def sent(self, now_s: float, frame: Frame) -> None:
        """Count a transfer of the current run, or start the next run."""
        super().sent(now_s, frame)
        if not is_useful(frame):
            return
        gap_s = now_s - self._transfer_s
        if gap_s <= self.gap_ms / 1000:
            self._transfers += 1
            self._gaps_s.append(gap_s)
        else:
            if self._transfers:
                self._runs.append(self._transfers)
            self._transfers = 1
        self._transfer_s = now_s

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Stay awake for the rest of the run, or doze."""
        wait_s = self.after(now_s, poll, self.gap_ms / 1000) if self._awake_is_cheaper() else 0.0
        return self.aligned(now_s, wait_s, self.dtim.period)

    def _awake_is_cheaper(self) -> bool:
        expected, gap_s = self._expected_transfers(), self._mean_gap_s()
        delay_s = self.beacon_s * (1 + self.dtim.period) / 2
        awake_j = self.switch_j + self.power.awake_w * (expected * gap_s + self.gap_ms / 1000)
        doze_j = self.power.asleep_w * (expected * (gap_s + delay_s) + self.gap_ms / 1000)
        return awake_j < doze_j + (1 + expected) * self.delay_w * delay_s

    def _expected_transfers(self) -> float:
        """Return the expected number of further transfers, from past runs of at least this length."""
        remaining = [run - self._transfers for run in self._runs if run >= self._transfers]
        return sum(remaining) / len(remaining) if remaining else 0.0

    def _mean_gap_s(self) -> float:
        return fsum(self._gaps_s) / len(self._gaps_s) if self._gaps_s else self.gap_ms / 2000
