"""Frames for tests of policies."""

from __future__ import annotations

from psm_sim.policies import Frame


def syn(flow: int = 0, mss: int = 1460) -> Frame:
    """Return a SYN, with the MSS of its options."""
    return Frame(flow, 40, 0, True, False, mss)


def request(flow: int = 0, size: int = 300) -> Frame:
    """Return an uplink frame with a payload, such as a request."""
    return Frame(flow, size + 40, size, False, False)


def ack(flow: int = 0) -> Frame:
    """Return a bare ACK."""
    return Frame(flow, 40, 0, False, False)


def fin(flow: int = 0, payload: int = 0) -> Frame:
    """Return a FIN, with or without payload."""
    return Frame(flow, payload + 40, payload, False, True)


def datagram() -> Frame:
    """Return an unsolicited datagram."""
    return Frame(-1, 300, 272, False, False)
