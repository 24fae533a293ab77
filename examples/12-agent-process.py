"""Let an agent in another process decide, e.g. a driver or another simulator.

The policy opens its connection in start() and closes it in finish(). Pass the class, not an instance:
psm_sim then creates a policy for each run and never copies an open connection. The agent knows only
the numbers that it receives.

Run:               python examples/12-agent-process.py
Renew the output:  python examples/12-agent-process.py > examples/12-agent-process.txt
"""

import multiprocessing
from multiprocessing.connection import Connection

import psm_sim
from psm_sim.policies import Policy, Poll, Rest

PAGES = 20


def decide(since_uplink_s: float, frames: int) -> int:
    """Return the number of beacons to doze: one after a frame, more in a long idle period."""
    return 1 if frames or since_uplink_s < 0.5 else min(10, 1 + int(since_uplink_s))


def serve(connection: Connection) -> None:
    """Answer until the other end closes the connection. This function runs in the process of the agent."""
    try:
        while True:
            connection.send(decide(*connection.recv()))
    except EOFError:
        pass


class Remote(Policy):
    """Policy that asks an agent in another process at each decision."""

    name = "remote"

    def start(self, beacon_s: float) -> None:
        """Start the process of the agent."""
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


class Local(Policy):
    """The same policy in the process of the simulation."""

    name = "local"

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Return the decision."""
        return Rest(beacons=decide(since_uplink_s, poll.buffered_frames if poll else 0))


def main() -> None:
    """Compare both forms of the policy."""
    frame = psm_sim.compare([Remote, Local], pages=PAGES, baselines=False).frame
    print(frame[["policy", "energy_per_page_j", "slowdown.mean"]].round(6).to_string(index=False))


if __name__ == "__main__":
    main()
