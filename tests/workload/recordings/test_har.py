"""HAR files, also with the deviations of real ones from the format."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.workload import load_workload
from psm_sim.workload.recordings.har_entries import HarEntry, epoch_s
from psm_sim.workload.recordings.recording import UNKNOWN
from psm_sim.workload.recordings.recording_reader import read_page_recording

CHROME = {"name": "WebInspector", "version": "537.36"}


def entry(at="00:00.000Z", wait=50.0, time=100.0, url="https://x/", page="page_1", **changes):
    """Return an entry of a valid file; *changes* replace its members, None removes one."""
    members = {
        "pageref": page,
        "startedDateTime": f"2024-05-01T10:{at}",
        "time": time,
        "request": {"method": "GET", "url": url, "headersSize": 300, "bodySize": 0},
        "response": {
            "status": 200,
            "headersSize": 200,
            "bodySize": 1000,
            "content": {"size": 5000, "mimeType": "text/html"},
        },
        "timings": {
            "blocked": 1.0,
            "dns": -1,
            "connect": -1,
            "ssl": -1,
            "send": 1.0,
            "wait": wait,
            "receive": 20.0,
        },
    } | changes
    return {key: value for key, value in members.items() if value is not None}


def har(folder, entries, pages=("page_1",), creator=CHROME, name="a.har", **log):
    """Return a HAR file with these entries."""
    listed = [
        {"id": page, "startedDateTime": "", "title": ""} if isinstance(page, str) else page for page in pages
    ]
    document = {"log": {"version": "1.2", "creator": creator, "pages": listed, "entries": entries} | log}
    path = folder / name
    data = json.dumps(document).encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def sizes(recording):
    """Return the bytes of each object of each page."""
    return [part.tolist() for part in np.split(recording.size, recording.first[1:-1])]


def test_a_session_of_two_pages_is_read_as_the_hand_computed_recording(tmp_path: Path) -> None:
    """Pages follow from pageref, think times from the end of a page to the start of the next."""
    path = har(
        tmp_path,
        [
            entry("00:00.000Z"),
            entry("00:00.120Z", url="https://x/a.png", time=1880.0, wait=30.5),
            entry("00:09.500Z", url="https://x/next", page="page_2"),
        ],
        pages=("page_1", "page_2"),
    )
    recording = read_page_recording(path)
    assert recording.format == "HAR 1.2"
    assert sizes(recording) == [[1200, 1200], [1200]]
    assert recording.delay_us.tolist() == [
        19_500,
        0,
        19_500,
    ]  # less the round trip, at most the shortest wait
    assert recording.request_bytes.tolist() == [300, 300, 300]
    assert np.isnan(recording.think_s[0])
    assert recording.think_s[1] == pytest.approx(7.5)
    replayed = load_workload(str(path), 10, 1)
    assert [page.think_s for page in replayed.pages] == [0.0, pytest.approx(7.5)]
    assert replayed.pages[0].server_delay_s == (0.0195, 0.0)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"_transferSize": 777}, 777),
        ({"_bytesIn": "888"}, 888),
        ({"_transferSize": 777, "_bytesIn": 888}, 777),
        ({"_transferSize": -1, "_bytesIn": 888}, 888),
        ({"response": {"_transferSize": 555, "headersSize": 1, "bodySize": 1}}, 555),
        ({"response": {"headersSize": -1, "bodySize": -1, "content": {"size": 4321}}}, 4321),
        ({"response": {"headersSize": -1, "bodySize": 900, "content": {"size": 4321}}}, 900),
        ({"response": {"headersSize": 200, "bodySize": 0}}, 200),
    ],
)
def test_the_size_of_an_object_is_the_first_known_value_of_its_size_fields(changes, expected: int) -> None:
    """The order is _transferSize, _bytesIn, bodySize and headersSize, content.size.

    A member of -1 is unknown.
    """
    assert HarEntry(entry(**changes)).size == expected


@pytest.mark.parametrize(
    ("changes", "counts"),
    [
        ({"url": "data:image/png;base64,AAAA"}, "0 cached, 0 failed, 1 other"),
        ({"url": "blob:https://x/1"}, "0 cached, 0 failed, 1 other"),
        ({"_fromCache": "disk"}, "1 cached, 0 failed, 0 other"),
        ({"_fetchType": "Memory Cache"}, "1 cached, 0 failed, 0 other"),
        (
            {"response": {"status": -2, "headersSize": -1, "bodySize": -1, "content": {"size": -1}}},
            "0 cached, 1 failed, 0 other",
        ),
        (
            {"response": {"status": 0, "headersSize": 0, "bodySize": 0, "content": {}}},
            "0 cached, 1 failed, 0 other",
        ),
        ({"response": None}, "0 cached, 1 failed, 0 other"),
        ({"response": {"status": 101, "bodySize": 9}}, "0 cached, 0 failed, 1 other"),
        (
            {"response": {"bodySize": 9, "content": {"mimeType": "text/event-stream"}}},
            "0 cached, 0 failed, 1 other",
        ),
    ],
)
def test_entries_without_network_traffic_are_omitted(tmp_path: Path, changes, counts) -> None:
    """Such entries are data: URLs, cached and failed requests, and endless streams. A remark counts them."""
    recording = read_page_recording(har(tmp_path, [entry(), entry(**changes)]))
    assert sizes(recording) == [[1200]]
    assert recording.warnings[0] == f"1 object replayed, 1 entry left out ({counts})"


def test_a_size_above_the_limit_of_a_connection_is_an_error(tmp_path: Path) -> None:
    """A clamped size would be a guess that is simulated for minutes. The message has entry and size."""
    large = entry(request={"method": "POST", "url": "https://x/", "headersSize": 9, "bodySize": "1e308"})
    with pytest.raises(
        InputError, match=r"a\.har: log\.entries\[0\]: the size of the request .* got 1e\+308"
    ):
        read_page_recording(har(tmp_path, [large]))


def test_timings_are_never_negative() -> None:
    """A wait of -1 is unknown; a time of null is the sum of the phases, with ssl inside connect."""
    assert HarEntry(entry(wait=-1)).delay_us == UNKNOWN
    assert HarEntry(entry(timings=None)).delay_us == UNKNOWN
    phases = {"blocked": -1, "dns": 5, "connect": 30, "ssl": 20, "send": 1, "wait": 40, "receive": 4}
    for absent in (None, -1, "-1"):
        read = HarEntry(entry(time=absent, timings=phases))
        assert read.end_s - read.start_s == pytest.approx(0.080)


def test_old_webpagetest_entries_begin_when_the_request_is_sent(tmp_path: Path) -> None:
    """The time includes DNS and connect before the start if the entry has _load_start."""
    old = entry("00:01.500Z", time=900.0, _load_start=1500, _load_end="1800")
    read = HarEntry(old)
    assert read.end_s - read.start_s == pytest.approx(0.3)
    plain = HarEntry(entry("00:01.500Z", time=900.0))
    assert plain.end_s - plain.start_s == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:01Z", 1.0),
        ("1970-01-01T00:00:01.5+00:00", 1.5),
        ("1970-01-01T02:00:01.2500000+02:00", 1.25),
        ("1970-01-01T00:00:00.1234567-0100", 3600.1234567),
        ("1970-01-01 00:00:01.250", 1.25),
    ],
)
def test_times_with_any_number_of_decimals_and_any_time_zone_offset_are_read(
    text: str, expected: float
) -> None:
    """The offsets are Z, +00:00 and others, and times have 3 to 7 decimals."""
    assert epoch_s(text) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    "facts",
    [
        {"creator": {"name": "WebPagetest", "version": "2.19"}},
        {"creator": {"name": "Browsertime"}},
        {"pages": ({"id": "page_1", "_run": 1}, {"id": "page_2", "_run": 2})},
        {"same_url": True},
        {"overlap": True},
    ],
)
def test_gaps_between_independent_runs_do_not_count_as_think_times(tmp_path: Path, facts) -> None:
    """The gap is unknown, and a replay samples a published think time instead."""
    facts = dict(facts)
    url = "https://x/" if facts.pop("same_url", False) else "https://x/other"
    at = "00:00.050Z" if facts.pop("overlap", False) else "20:00.000Z"
    entries = [entry(), entry(at, url=url, page="page_2")]
    path = har(tmp_path, entries, **({"pages": ("page_1", "page_2")} | facts))
    recording = read_page_recording(path)
    assert recording.pages == 2
    assert np.isnan(recording.think_s).all()
    think = load_workload(str(path), 2, 1).pages[1].think_s
    assert 1.005 <= think <= 1000
    assert think != pytest.approx(1199.9, abs=1)


@pytest.mark.parametrize("pages", [None, [], "missing"])
def test_an_idle_second_begins_a_new_page_if_the_file_has_no_page_entries(tmp_path: Path, pages) -> None:
    """Fiddler writes no pages: entries within a second of each other form a page."""
    entries = [
        entry("00:00.000Z"),
        entry("00:00.900Z", url="https://x/b"),
        entry("00:02.100Z", url="https://x/c"),
    ]
    path = har(
        tmp_path, [{**e, "pageref": None} for e in entries], **({} if pages == "missing" else {"pages": ()})
    )
    document = json.loads(path.read_text())
    if pages == "missing":
        del document["log"]["pages"]
    else:
        document["log"]["pages"] = pages
    path.write_text(json.dumps(document))
    recording = read_page_recording(path)
    assert [len(page) for page in sizes(recording)] == [2, 1]
    assert recording.think_s[1] == pytest.approx(1.1)


def test_gzipped_files_and_files_with_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    plain = har(tmp_path, [entry()])
    marked = tmp_path / "marked.json"
    marked.write_bytes(b"\xef\xbb\xbf" + plain.read_bytes())
    assert read_page_recording(marked).pages == 1
    assert read_page_recording(har(tmp_path, [entry()], name="a.har.gz")).pages == 1


def test_entries_may_be_in_any_order(tmp_path: Path) -> None:
    """The first one sent is the main object."""
    main, later = (
        entry("00:00.000Z", _transferSize=1),
        entry("00:00.500Z", url="https://x/b", _transferSize=2),
    )
    assert sizes(read_page_recording(har(tmp_path, [later, main]))) == [[1, 2]]


def test_unknown_request_sizes_are_filled_from_the_published_table(tmp_path: Path) -> None:
    """A headersSize of -1 is replaced by a sample; _bytesOut is used if the file has it."""
    silent = {"url": "https://x/", "headersSize": -1, "bodySize": -1}
    path = har(tmp_path, [entry(request=silent), entry("00:00.1Z", request=silent, _bytesOut="432")])
    assert read_page_recording(path).request_bytes.tolist() == [UNKNOWN, 432]
    first, second = load_workload(str(path), 1, 1).pages[0].request_bytes
    assert (118 <= first <= 1373, second) == (True, 432)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"log": ', "line 1, column 9: Expecting value"),
        (b'{"log": {"entries": 3}}', "not a HAR file; expected a list log.entries"),
        (b'{"log": {"entries": []}}', "must have at least one entry that used the network"),
        (b'{"log": {"entries": [3]}}', r"log.entries\[0\] must be an object, got '3'"),
        (
            b'{"log": {"entries": [{"time": -5}]}}',
            r"log\.entries\[0\]: time must be at least 0, or -1 .* got -5",
        ),
        (b'{"a": ' * 100_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "contains an invalid number"),
        (b'{"a": "\xff"}', "byte 7 is not UTF-8"),
        ('{"log": 1}'.encode("utf-16"), "has an unknown format"),
    ],
)
def test_the_error_for_an_invalid_har_file_has_the_position_of_the_mistake(
    tmp_path: Path, data, message: str
) -> None:
    """The error is one line without a traceback, with line and column, offset, or entry."""
    path = tmp_path / "bad.har"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        read_page_recording(path)
    assert "\n" not in str(caught.value)


def test_the_error_for_an_entry_without_a_time_has_the_number_of_the_entry(tmp_path: Path) -> None:
    path = har(tmp_path, [entry(), entry(startedDateTime="yesterday")])
    with pytest.raises(
        InputError, match=r"log\.entries\[1\]\.startedDateTime must be an ISO 8601 time, got 'yesterday'"
    ):
        read_page_recording(path)
