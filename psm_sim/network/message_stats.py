"""Lanes of messages: the same direction, one way or there and back; each counts its trips and times them."""

from __future__ import annotations

from array import array

from psm_sim.workload.messages import DATAGRAM, Message, Messages

_LANES = {
    (False, False): "down",
    (True, False): "up",
    (False, True): "round_trip_down",
    (True, True): "round_trip_up",
}
"""Name of each way: whether the station begins, and whether there is an answer."""


class MessageStats:
    """Lane: latencies in seconds from sending to arrival, and how many were lost.

    Datagrams of one lane pass each other nowhere, or only by little: one is lost if a later one has arrived.
    Those after the last one that arrived are on their way, or nobody can tell yet. Messages of a connection
    are lost only with the connection.
    """

    def __init__(self) -> None:
        self.latencies_s = array("d")
        self.sent = 0
        self._datagrams = self._datagrams_arrived = 0
        self._last = self._gone = 0

    def start(self, message: Message) -> int:
        """Count one more that is sent, and return its number among the datagrams, from 1; 0: it is none."""
        self.sent += 1
        if message.connection != DATAGRAM:
            return 0
        self._datagrams += 1
        return self._datagrams

    def arrived(self, number: int, latency_s: float) -> None:
        """Note that one has arrived, by its number, and how long it took in seconds."""
        self.latencies_s.append(latency_s)
        self._datagrams_arrived += number > 0
        self._last = max(self._last, number)

    def lose(self) -> None:
        """Note that a message is lost with its connection."""
        self._gone += 1

    @property
    def lost(self) -> int:
        """The number lost so far."""
        return self._last - self._datagrams_arrived + self._gone


class MessageTransit:
    """Trip of one message: there, and back if it is answered."""

    __slots__ = ("answered", "lane", "message", "number", "sent_s")

    def __init__(self, message: Message, sent_s: float, lane: MessageStats) -> None:
        self.message, self.sent_s, self.lane = message, sent_s, lane
        self.number = lane.start(message)
        self.answered = False


def make_stats(messages: Messages) -> dict[str, MessageStats]:
    """Return an empty lane for each way that messages take, by its name; those never sent have one too."""
    return {_LANES[way]: MessageStats() for way in messages.directions}


def stats_of(lanes: dict[str, MessageStats], message: Message) -> MessageStats:
    """Return the lane of a message."""
    return lanes[_LANES[message.uplink, message.reply_bytes > 0]]
