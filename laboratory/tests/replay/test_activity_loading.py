"""Traces as network activity, with recorded or nominal times."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from psm_lab.replay.activity_loading import load_activities
from psm_lab.replay.network_activity import NominalTransfers, transfers_of

from psm_sim.common.errors import InputError
from psm_sim.workload import Page, load_workload


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a UCB file of three clients, with 30 requests over a modem."""
    path = tmp_path_factory.mktemp("activity") / "home.txt"
    lines = []
    for number in range(30):
        second, size = 846_890_340 + 10 * number, 3600 + 36 * number
        times = f"{second}:0 {second}:90000 {second + 1}:{10_000 * number + 90_000}"
        fields = f"10.0.0.{number % 3}:1024 20.0.0.1:80 2 8 0 0 0 100 {size - 100} 20"
        lines.append(f"{times} {fields} GET 1..html HTTP/1.0\n")
    path.write_text("".join(lines))
    return path


def page(think_s: float, main: int, *images: int, delay_s: float = 0.0) -> Page:
    """Return a page whose objects have all the same server delay."""
    count = 1 + len(images)
    return Page(think_s, main, images, (300,) * count, (delay_s,) * count)


def test_nominal_times_agree_with_hand_computed_times() -> None:
    """8 kbit/s are one byte per ms; the line carries one response after another."""
    nominal = NominalTransfers(rate_kbps=8.0, round_trip_ms=100.0, connections=2)
    pages = [page(9.0, 400, 300, 200, 50, delay_s=0.2), page(10.0, 1)]
    assert list(transfers_of(pages, nominal)) == [
        (0, 700_000, 400),
        (700_000, 1_300_000, 300),
        (700_000, 1_500_000, 200),
        (1_300_000, 1_650_000, 50),
        (11_650_000, 11_951_000 - 300_000 + 100_000, 1),
    ]


def test_each_recorded_request_is_a_transfer_with_its_start_duration_and_bytes(recording: Path) -> None:
    """Clients are selected in the order of their activity."""
    activities = load_activities(f"{recording}:clients=all", 1, 1, NominalTransfers())
    assert sum(len(activity.transfers) for activity in activities) == 30
    assert [
        activity.client for activity in load_activities(f"{recording}:clients=2", 1, 1, NominalTransfers())
    ] == [activity.client for activity in activities[:2]]
    for activity in activities:
        assert not activity.synthetic
        assert list(activity.transfers) == sorted(activity.transfers, key=lambda transfer: transfer.start_us)
        took = [transfer.end_us - transfer.start_us for transfer in activity.transfers]
        modem = [transfer.size / 3600 * 1e6 for transfer in activity.transfers]
        assert all(took_us >= modem_us * 0.9 for took_us, modem_us in zip(took, modem, strict=True))


def test_a_har_file_is_read_as_one_client(tmp_path: Path) -> None:
    """An entry lasts from its request to its last byte."""
    entry = {
        "startedDateTime": "2024-01-01T00:00:00.250Z",
        "time": 120,
        "request": {"url": "https://a.example/", "method": "GET", "headersSize": 100, "bodySize": 0},
        "response": {"status": 200, "headersSize": 200, "bodySize": 1800, "content": {"size": 1800}},
        "timings": {"blocked": -1, "dns": -1, "connect": -1, "send": 10, "wait": 60, "receive": 50},
    }
    path = tmp_path / "visit.har"
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": [entry]}}))
    (activity,) = load_activities(str(path), 1, 1, NominalTransfers())
    (transfer,) = activity.transfers
    assert activity.client == "visit"
    assert (transfer.end_us - transfer.start_us, transfer.size) == (120_000, 2000)


def test_a_sampled_recording_has_the_pages_of_a_run(recording: Path) -> None:
    """The remark has the rate and the round trip, which determine the duration of transfers."""
    (sampled,) = load_activities(f"{recording}:workload=sample", 7, 1, NominalTransfers())
    assert sampled.total_bytes == sum(
        page_.total_bytes for page_ in load_workload(f"{recording}:workload=sample", 7, 1).pages
    )
    assert sampled.parameters["rate_kbps"] == 28.8
    assert "28.8 kbit/s, 200 ms round trip" in sampled.remark


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("ucb:clients=3", "trace ucb has no parameter 'clients'"),
        ("{}:clients=9", "clients must be 1 to 3, all or an identifier, got 9"),
        ("{}:server_delay_ms=3", "server_delay_ms='3' has no effect, because requests are replayed"),
        ("{}:pages=3", "Unknown parameter of trace home.txt 'pages'"),
        ("nothing", "Unknown trace 'nothing'"),
    ],
)
def test_an_invalid_trace_is_an_error_of_one_sentence(recording: Path, spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_activities(spec.format(recording), 10, 1, NominalTransfers())


@pytest.mark.parametrize("trace", ["ping", "cbr", "mqtt", "push", "bulk"])
def test_each_received_message_is_a_transfer_in_a_trace_without_pages(trace: str) -> None:
    """Transfers are in order and do not overlap."""
    workload = load_workload(trace, 1, seed=1)
    (activity,) = load_activities(trace, 1, 1, NominalTransfers())
    received = [message.reply_bytes if message.uplink else message.bytes for message in workload.messages]
    assert activity.total_bytes == sum(received)
    transfers = activity.transfers
    assert all(first.end_us <= second.end_us for first, second in pairwise(transfers))
    assert [transfer.start_us for transfer in transfers] == sorted(
        transfer.start_us for transfer in transfers
    )


def test_a_trace_without_messages_is_an_error() -> None:
    """A part may be switched off, but a replay needs bytes."""
    with pytest.raises(InputError, match="trace push sends nothing to the station"):
        load_activities("push:on=false", 1, 1, NominalTransfers())


def test_transfers_take_at_least_the_time_of_their_bytes_at_the_nominal_rate() -> None:
    """The transfers of a sampled trace begin in order."""
    nominal = NominalTransfers()
    pages = load_workload("ucb", 50, 3).pages
    transfers = list(transfers_of(pages, nominal))
    assert sum(transfer.size for transfer in transfers) == sum(page.total_bytes for page in pages)
    assert [transfer.start_us for transfer in transfers] == sorted(
        transfer.start_us for transfer in transfers
    )
    ends = [transfer.end_us for transfer in transfers]
    for before, after in pairwise(transfers):
        assert after.end_us - before.end_us >= after.size * 8 / nominal.rate_kbps * 1000 - 1
    assert ends == sorted(ends)
