"""STPM: self-tuning power management, which weighs the cost of staying awake against that of dozing."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import ClassVar

from psm_sim.limits import MAX_MS, MAX_WEIGHT
from psm_sim.parameters import check_all, parameter
from psm_sim.policies.base import Frame, Rest
from psm_sim.policies.last_frame import LastFrame
from psm_sim.policies.outstanding_requests import is_useful
from psm_sim.poll import Poll


@dataclass
class Stpm(LastFrame):
    """Stay awake for a run of transfers if that is expected to cost less than dozing between them.

    After Anand, Nightingale and Flinn (MobiCom 2003): the lengths of past runs say how many transfers are yet
    to come, a price says what a second of delay costs, and switching costs energy. A transfer is a SYN or
    payload that the station sends; transfers closer than ``gap_ms`` are one run. Their hints of applications
    are not modelled.
    """

    name: ClassVar[str] = "stpm"

    delay_w: float = parameter(1.0, "price of delay", unit="J/s", at_least=0, at_most=MAX_WEIGHT)
    switch_j: float = parameter(
        0.0, "energy of changing the mode, there and back", unit="J", at_least=0, at_most=100
    )
    gap_ms: float = parameter(
        500.0, "longest gap between the transfers of a run", unit="ms", above=0, at_most=MAX_MS
    )
    memory: int = parameter(100, "runs remembered", at_least=1, at_most=10_000)

    def __post_init__(self) -> None:
        check_all(self, "policy stpm")
        self._begin()

    def start(self, beacon_s: float) -> None:
        """Begin with no run known."""
        super().start(beacon_s)
        self._begin()

    def _begin(self) -> None:
        self._runs, self._gaps_s = deque[int](maxlen=self.memory), deque[float](maxlen=self.memory)
        self._transfers, self._transfer_s = 0, 0.0

    def sent(self, now_s: float, frame: Frame) -> None:
        """Count a transfer: one more of its run, or the first of the next."""
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
        """Stay awake for the rest of the run, or doze.

        Arguments as for :class:`~psm_sim.policies.base.Policy`.
        """
        wait_s = self.after(now_s, poll, self.gap_ms / 1000) if self._awake_is_cheaper() else 0.0
        return self.aligned(now_s, wait_s, self.dtim.period)

    def _awake_is_cheaper(self) -> bool:
        coming, gap_s = self._coming(), self._mean_gap_s()
        delay_s = self.beacon_s * (1 + self.dtim.period) / 2
        awake_j = self.switch_j + self.power.awake_w * (coming * gap_s + self.gap_ms / 1000)
        doze_j = self.power.asleep_w * (coming * (gap_s + delay_s) + self.gap_ms / 1000)
        return awake_j < doze_j + (1 + coming) * self.delay_w * delay_s

    def _coming(self) -> float:
        """Return how many transfers are expected yet, from past runs that were at least as long."""
        longer = [run - self._transfers for run in self._runs if run >= self._transfers]
        return sum(longer) / len(longer) if longer else 0.0

    def _mean_gap_s(self) -> float:
        return sum(self._gaps_s) / len(self._gaps_s) if self._gaps_s else self.gap_ms / 2000
