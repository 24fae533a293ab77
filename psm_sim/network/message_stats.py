"""Per-direction message statistics: counts, losses and latencies."""

from __future__ import annotations

from array import array

from psm_sim.workload.messages import DATAGRAM, Message, Messages

_DIRECTIONS = {
    (False, False): "down",
    (True, False): "up",
    (False, True): "round_trip_down",
    (True, True): "round_trip_up",
}
"""Name of each direction, by whether the station sends first and whether there is a reply."""


class MessageStats:
    """Message counts and latencies of one direction.

    Datagrams of one direction arrive in order, or nearly so. A datagram therefore counts as lost once a later
    one has arrived. Datagrams after the last one that arrived count as in transit. Messages on a connection
    are lost only with their connection.

    Attributes
    ----------
    latencies_s : array of float
        Latency of each message that arrived, in seconds.
    sent : int
        Number of messages sent.
    """

    def __init__(self) -> None:
        self.latencies_s = array("d")
        self.sent = 0
        self._datagrams = self._datagrams_arrived = 0
        self._last = self._lost_on_connections = 0

    def start(self, message: Message) -> int:
        """Count a sent message. Return its 1-based datagram number, or 0 if it is not a datagram."""
        self.sent += 1
        if message.connection != DATAGRAM:
            return 0
        self._datagrams += 1
        return self._datagrams

    def arrived(self, number: int, latency_s: float) -> None:
        """Record the arrival of a message with datagram number *number* after *latency_s* seconds."""
        self.latencies_s.append(latency_s)
        self._datagrams_arrived += number > 0
        self._last = max(self._last, number)

    def lose(self) -> None:
        """Record a message that was lost with its connection."""
        self._lost_on_connections += 1

    @property
    def lost(self) -> int:
        """The number of messages lost so far."""
        return self._last - self._datagrams_arrived + self._lost_on_connections


class MessageTransit:
    """One message in transit, and its reply if it has one."""

    __slots__ = ("answered", "message", "number", "sent_s", "stats")

    def __init__(self, message: Message, sent_s: float, stats: MessageStats) -> None:
        self.message, self.sent_s, self.stats = message, sent_s, stats
        self.number = stats.start(message)
        self.answered = False


def make_stats(messages: Messages) -> dict[str, MessageStats]:
    """Return empty statistics for each direction of *messages*, by its name."""
    return {_DIRECTIONS[way]: MessageStats() for way in messages.directions}


def stats_of(stats: dict[str, MessageStats], message: Message) -> MessageStats:
    """Return the statistics to which a message belongs."""
    return stats[_DIRECTIONS[message.uplink, message.reply_bytes > 0]]
