"""Write two policies with fixed rules about the frames sent and received.

Outstanding receives every beacon while a request waits for its reply, and dozes longer and longer
otherwise. Skip is the dynamic listen interval of the chip Talaria TWO. After traffic it receives every
beacon until the next beacon of the listen interval, and otherwise every n-th beacon. Both policies
override sent() and received().

On the command line:  python -m psm_sim --policy examples/13-fixed-rules.py:Skip:listen_interval=5
Run:                  python examples/13-fixed-rules.py
Renew the output:     python examples/13-fixed-rules.py > examples/13-fixed-rules.txt
"""

import psm_sim
from psm_sim.policies import Frame, Policy, Poll, Rest

FULL_BYTES = 1448  # payload of a full segment; a shorter payload ends a reply


class Outstanding(Policy):
    """Receive every beacon while a request is outstanding, else doze f times the time since a frame."""

    name = "outstanding"

    def __init__(self, f: float = 100.0, max_beacons: int = 12) -> None:
        self.f, self.max_beacons = f, max_beacons
        self._waiting: set[int] = set()
        self._last_s = 0.0

    def start(self, beacon_s: float) -> None:
        """Reset the state before a run."""
        super().start(beacon_s)
        self._waiting, self._last_s = set(), 0.0

    def sent(self, now_s: float, frame: Frame) -> None:
        """Record a request, or the end of a connection."""
        self._last_s = now_s
        if frame.fin:
            self._waiting.discard(frame.flow)
        elif frame.flow >= 0 and (frame.payload or frame.syn):
            self._waiting.add(frame.flow)

    def received(self, now_s: float, frame: Frame) -> None:
        """Record the end of a reply."""
        if not frame.group:
            self._last_s = now_s
            if frame.fin or 0 < frame.payload < FULL_BYTES:
                self._waiting.discard(frame.flow)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Doze until the next beacon if a request is outstanding, else back off."""
        if self._waiting:
            return Rest(repeat=True)
        beacons = int(self.f * (now_s - self._last_s) / self.beacon_s)
        return Rest(beacons=min(max(1, beacons), self.max_beacons))


class Skip(Policy):
    """Receive every beacon after traffic, and every n-th one otherwise."""

    name = "skip"

    def __init__(self, timeout_ms: float = 12.0, listen_interval: int = 10) -> None:
        self.timeout_ms, self.listen_interval = timeout_ms, listen_interval
        self._last_s = 0.0

    def start(self, beacon_s: float) -> None:
        """Reset the state before a run."""
        super().start(beacon_s)
        self._last_s = 0.0

    def sent(self, now_s: float, frame: Frame) -> None:
        """Record the time of a frame."""
        self._last_s = now_s

    def received(self, now_s: float, frame: Frame) -> None:
        """Record the time of a frame."""
        self._last_s = now_s

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Stay awake for the timeout, then doze until a beacon that the rule names."""
        wait_s = max(0.0, self._last_s + self.timeout_ms / 1000 - now_s)
        after, interval = self.beacon_grid.after, self.listen_interval
        coming, last_fast = after(now_s + wait_s), -(-after(self._last_s) // interval) * interval
        return Rest(wait_s, 1 if coming <= last_fast else -coming % interval + 1)


def main() -> None:
    """Check both policies, and compare them with built-in policies."""
    for policy in (Outstanding, Skip):
        print(psm_sim.check(policy).summary)
    frame = psm_sim.compare([Outstanding, Skip, "psm", "lpsm"], pages=50, baselines=False).frame
    print(frame[["policy", "energy_per_page_j", "slowdown.mean"]].round(3).to_string(index=False))


if __name__ == "__main__":
    main()
