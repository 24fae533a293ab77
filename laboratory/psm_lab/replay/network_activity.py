"""Network activity of a client as a list of transfers, recorded or with nominal times of a dial-up modem."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_MS, MAX_TIME_S
from psm_sim.common.parameters import check_all, parameter
from psm_sim.workload import Page
from psm_sim.workload.messages import Message, Messages


class Transfer(NamedTuple):
    """Transfer from its request to the last byte of the response, with integer times in microseconds."""

    start_us: int
    end_us: int
    size: int


@dataclass(frozen=True)
class Activity:
    """Transfers of one client, ordered by start.

    Attributes
    ----------
    client
        Identifier of the client.
    transfers
        Transfers of the client.
    synthetic
        Whether the transfers are generated rather than recorded.
    remark
        Description for users, one sentence.
    parameters
        Parameters of the trace as plain values.
    """

    client: str
    transfers: Sequence[Transfer]
    synthetic: bool
    remark: str
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def total_bytes(self) -> int:
        """Total size of all transfers, in bytes."""
        return sum(transfer.size for transfer in self.transfers)


def without_gaps(transfers: Iterable[Transfer], longest_us: int) -> Iterator[Transfer]:
    """Yield *transfers* with every idle period between them shortened to at most *longest_us*."""
    moved_us, done_us = 0, None
    for start_us, end_us, size in transfers:
        # The link is idle only once all earlier transfers are done, so their latest end counts.
        if done_us is not None:
            moved_us += max(start_us - done_us - longest_us, 0)
        done_us = max(end_us, done_us or end_us)
        yield Transfer(start_us - moved_us, end_us - moved_us, size)


@dataclass(frozen=True)
class NominalTransfers:
    """Parameters of the nominal transfer times, for pages without measured times.

    The main object is requested after the think time, the embedded objects as soon as it is complete, over
    at most ``connections`` connections. A response starts one round trip and the server delay after its
    request, or later if the line is still busy. The line carries one response at a time. The defaults
    describe the dial-up users whose distributions the bundled trace contains.
    """

    rate_kbps: float = parameter(
        28.8, "rate of the line, for pages without times", unit="kbit/s", above=0, at_most=1e9
    )
    round_trip_ms: float = parameter(
        200.0, "round trip to the server, for pages without times", unit="ms", at_least=0, at_most=MAX_MS
    )
    connections: int = parameter(4, "connections at once, for pages without times", at_least=1, at_most=1000)

    def __post_init__(self) -> None:
        check_all(self, "nominal times")


def transfers_of(pages: Iterable[Page], nominal: NominalTransfers) -> Iterator[Transfer]:
    """Yield the transfers of *pages* in order of their start, the first one at time 0."""
    now_us, is_first = 0, True
    for page in pages:
        now_us += 0 if is_first else _us(page.think_s)
        is_first = False
        for transfer in _page(page, now_us, nominal):
            now_us = max(now_us, transfer.end_us)
            if now_us > 1e6 * MAX_TIME_S:
                raise InputError(
                    f"nominal times: the transfers of these pages take more than {MAX_TIME_S:g} s; use "
                    "fewer pages, a higher rate or a shorter round trip."
                )
            yield transfer


def transfers_of_messages(messages: Messages, nominal: NominalTransfers) -> Iterator[Transfer]:
    """Yield the downlink transfers of *messages* in order of their start: messages received, and replies.

    The reply to a message of the station starts one round trip and the delay after the message. The line
    carries one transfer at a time.
    """
    received = sorted(filter(None, (_downlink(message, nominal) for message in messages)))
    line_us = 0
    for start_us, size in received:
        line_us = max(line_us, start_us) + _line_us(size, nominal)
        yield Transfer(start_us, line_us, size)


def _downlink(message: Message, nominal: NominalTransfers) -> tuple[int, int] | None:
    """Return the start and the size of the downlink transfer; None if the station receives nothing."""
    if not message.uplink:
        return _us(message.at_s), message.bytes
    delay_s = nominal.round_trip_ms / 1e3 + message.reply_delay_s
    return (_us(message.at_s + delay_s), message.reply_bytes) if message.reply_bytes else None


def _page(page: Page, start_us: int, nominal: NominalTransfers) -> Iterator[Transfer]:
    """Yield the main object and then the embedded ones, each on the first free connection."""
    main_us = start_us + _wait_us(page, 0, nominal) + _line_us(page.main_bytes, nominal)
    yield Transfer(start_us, main_us, page.main_bytes)
    free, line_us = [main_us] * nominal.connections, main_us
    for number, size in enumerate(page.image_bytes, start=1):
        sent_us = heapq.heappop(free)
        line_us = max(line_us, sent_us + _wait_us(page, number, nominal)) + _line_us(size, nominal)
        heapq.heappush(free, line_us)
        yield Transfer(sent_us, line_us, size)


def _wait_us(page: Page, number: int, nominal: NominalTransfers) -> int:
    return _us(nominal.round_trip_ms / 1e3 + page.server_delay_s[number])


def _line_us(size: int, nominal: NominalTransfers) -> int:
    return _us(size * 8 / (nominal.rate_kbps * 1e3))


def _us(seconds: float) -> int:
    return round(min(seconds, 2 * MAX_TIME_S) * 1e6)
