"""A policy whose decisions are made in another process: an agent, a driver or another simulator.

The policy opens its connection in start() and closes it in finish(). psm_sim creates policies anew
for each run when it is given the class, so nothing that is open is ever copied. The agent knows only
the numbers that it receives.

Run it:                python examples/12-agent-process.py
Write its output anew: python examples/12-agent-process.py > examples/12-agent-process.txt
"""

import multiprocessing
from multiprocessing.connection import Connection

import psm_sim
from psm_sim.policies import Policy, Poll, Rest

PAGES = 20


def decide(since_uplink_s: float, frames: int) -> int:
    """Return the number of beacons to doze: one after a frame, more in a long silence."""
    return 1 if frames or since_uplink_s < 0.5 else min(10, 1 + int(since_uplink_s))


def serve(connection: Connection) -> None:
    """Answer questions until the other end is closed. This function runs in the other process."""
    try:
        while True:
            connection.send(decide(*connection.recv()))
    except EOFError:
        pass


class Asked(Policy):
    """Policy that asks an agent in another process at each decision."""

    name = "asked"

    def start(self, beacon_s: float) -> None:
        """Begin the process of the agent."""
        super().start(beacon_s)
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        context.Process(target=serve, args=(other,), daemon=True).start()
        other.close()

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Return the decision of the agent."""
        self._connection.send((since_uplink_s, poll.buffered_frames if poll else 0))
        return Rest(beacons=self._connection.recv())

    def finish(self) -> None:
        """End the process of the agent."""
        self._connection.close()


class Direct(Policy):
    """The same policy without another process."""

    name = "direct"

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Return the decision."""
        return Rest(beacons=decide(since_uplink_s, poll.buffered_frames if poll else 0))


def main() -> None:
    """Print the policy in both forms."""
    frame = psm_sim.compare([Asked, Direct], pages=PAGES, baselines=False).frame
    print(frame[["policy", "energy_per_page_j", "slowdown.mean"]].round(6).to_string(index=False))


if __name__ == "__main__":
    main()
