"""Dependencies, round trips and protocols read from HAR files, one rule at a time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from psm_sim.common.errors import InputError
from psm_sim.workload import load_workload
from psm_sim.workload.page_view import PAGE_START, DependencyPage
from tests.workload.recordings.ucb_files import SHOWTRACE

HTML, JS, CSS, JSON, PNG = "text/html", "text/javascript", "text/css", "application/json", "image/png"


def entry(url="https://x/", at=0.0, mime=HTML, wait=50.0, receive=50.0, changes=None, **timings):
    """Return an entry that begins *at* seconds; its phases add up to its time."""
    phases = {"blocked": -1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": wait, "receive": receive}
    phases |= timings
    spent = sum(max(phases[phase], 0) for phase in phases if phase != "ssl")
    members = {
        "pageref": "page_1",
        "startedDateTime": f"2024-05-01T10:00:{at:09.6f}Z",
        "time": spent,
        "request": {"method": "GET", "url": url, "headersSize": 300, "bodySize": 0},
        "response": {
            "status": 200,
            "httpVersion": "h2",
            "_transferSize": 1000,
            "content": {"size": 5000, "mimeType": mime},
        },
        "timings": phases,
    }
    return merge(members, changes or {})


def merge(members, changes):
    """Replace members, also nested ones; None removes one."""
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(members.get(key), dict):
            merge(members[key], value)
        elif value is None:
            members.pop(key, None)
        else:
            members[key] = value
    return members


def read(folder: Path, entries, **log):
    """Return the workload of a HAR file with one page."""
    path = folder / "a.har"
    pages = [{"id": "page_1", "startedDateTime": "2024-05-01T09:59:59Z"}]
    document = {"version": "1.2", "creator": {"name": "WebInspector"}, "pages": pages, "entries": entries}
    path.write_text(json.dumps({"log": document | log}))
    return load_workload(str(path), 5, 1)


def page(folder: Path, *entries) -> DependencyPage:
    """Return the only page of a HAR file."""
    (loaded,) = read(folder, list(entries)).pages
    assert isinstance(loaded, DependencyPage)
    return loaded


def anchors(loaded: DependencyPage) -> list[tuple[int, bool, float]]:
    """Return the releasing object and the gap of each object except the main one."""
    return [(r.depends_on, r.at_first_byte, round(r.gap_s, 5)) for r in loaded.graph.releases[1:]]


def test_a_page_begins_with_its_first_request(tmp_path: Path) -> None:
    """The time of the page is ignored; it ends with the last byte."""
    loaded = page(tmp_path, entry(at=1.0), entry("https://x/a.js", 1.3, JS))
    assert loaded.graph.releases[0][2:] == (PAGE_START, False, 0.0)
    assert loaded.graph.recorded_s == pytest.approx(0.4)


def test_a_redirect_releases_the_request_to_its_target(tmp_path: Path) -> None:
    redirect = {"response": {"status": 302, "redirectURL": "/b"}}
    loaded = page(tmp_path, entry("https://x/a", changes=redirect), entry("https://x/b", 0.11))
    assert anchors(loaded) == [(0, False, 0.01)]
    assert (
        "1 known, 0 inferred"
        in read(tmp_path, [entry("https://x/a", changes=redirect), entry("https://x/b", 0.11)]).remark
    )


@pytest.mark.parametrize(
    "initiator",
    [
        "https://x/a.js",
        {"type": "script", "url": "https://x/a.js#f"},
        {"type": "script", "stack": {"callFrames": [{"url": ""}, {"url": "https://x/a.js"}]}},
        {
            "type": "script",
            "stack": {"callFrames": [], "parent": {"callFrames": [{"url": "https://x/a.js"}]}},
        },
    ],
)
def test_an_initiator_releases_the_requests_that_it_initiated(tmp_path: Path, initiator) -> None:
    """An initiator is a URL, an object with a URL, a stack, or the parent of a stack."""
    entries = (
        entry(),
        entry("https://x/a.js", 0.2, JS),
        entry("https://x/b.css", 0.25, CSS),
        entry("https://x/c.png", 0.5, PNG, changes={"_initiator": initiator}),
    )
    assert anchors(page(tmp_path, *entries))[-1] == (1, False, 0.2)


def test_a_document_releases_objects_when_its_first_byte_arrives(tmp_path: Path) -> None:
    """The document has not ended when they are requested."""
    loaded = page(
        tmp_path,
        entry(receive=500.0),
        entry("https://x/a.png", 0.2, PNG, changes={"_initiator": {"url": "https://x/"}}),
    )
    assert anchors(loaded) == [(0, True, 0.15)]


def test_objects_without_an_initiator_are_released_by_the_latest_document_or_script(tmp_path: Path) -> None:
    """Images release nothing; before an object has ended, the first byte of the main object releases."""
    loaded = page(
        tmp_path,
        entry(receive=100.0),
        entry("https://x/early.png", 0.1, PNG),
        entry("https://x/a.js", 0.2, JS),
        entry("https://x/b.json", 0.2, JSON, receive=100.0),
        entry("https://x/later.png", 0.32, PNG, receive=500.0),
        entry("https://x/last.png", 0.9, PNG),
    )
    assert anchors(loaded) == [
        (0, True, 0.05),
        (0, False, 0.05),
        (0, False, 0.05),
        (2, False, 0.02),
        (3, False, 0.55),
    ]


def test_objects_requested_before_the_first_byte_depend_on_the_start_of_the_page(tmp_path: Path) -> None:
    """No bytes had arrived."""
    loaded = page(tmp_path, entry(), entry("https://x/a.js", 0.03, JS))
    assert anchors(loaded) == [(PAGE_START, False, 0.03)]


def test_objects_requested_by_a_cached_entry_depend_on_the_ancestor_of_that_entry(tmp_path: Path) -> None:
    """The gaps are added; the cached entry is no object."""
    loaded = page(
        tmp_path,
        entry(),
        entry("https://x/a.js", 0.2, JS, changes={"_fromCache": "disk", "_initiator": "https://x/"}),
        entry("https://x/b.png", 0.5, PNG, changes={"_initiator": "https://x/a.js"}),
    )
    assert loaded.objects == 2
    assert anchors(loaded) == [(0, False, 0.4)]


@pytest.mark.parametrize(
    "initiator",
    ["https://x/b.js", "https://x/c.js", "https://nowhere/", 17, [], {"stack": {"callFrames": 3}}],
)
def test_invalid_initiators_do_not_create_a_cycle(tmp_path: Path, initiator) -> None:
    """An entry itself, a circular pair, an unknown URL, and nonsense: rule 3 applies."""
    loaded = page(
        tmp_path,
        entry(),
        entry("https://x/b.js", 0.2, JS, changes={"_initiator": initiator}),
        entry("https://x/c.js", 0.4, JS, changes={"_initiator": "https://x/b.js"}),
    )
    assert anchors(loaded)[0] == (0, False, 0.1)


def test_circular_redirects_do_not_create_a_cycle(tmp_path: Path) -> None:
    """Each entry depends on an earlier one."""
    circle = [
        entry(f"https://x/{here}", 0.1 * number, changes={"response": {"status": 302, "redirectURL": there}})
        for number, (here, there) in enumerate([("a", "b"), ("b", "a"), ("a", "a"), ("a", "b")])
    ]
    assert anchors(page(tmp_path, *circle)) == [(0, False, 0.0), (1, False, 0.0), (2, False, 0.0)]


def test_round_trip_times_are_estimated_from_handshakes_and_waits(tmp_path: Path) -> None:
    """The shortest TCP handshake, at most the shortest wait; other hosts have the median."""
    loaded = page(
        tmp_path,
        entry(connect=90.0, ssl=60.0, dns=20.0),
        entry("https://x/a.js", 0.4, JS, connect=50.0, ssl=30.0),
        entry("https://near/b.js", 0.5, JS, wait=10.0, connect=50.0, ssl=20.0),
        entry("https://unseen/c.js", 0.6, JS),
        entry("https://unseen/d.js", 0.7, JS, wait=12.0),
    )
    assert [host.rtt_s for host in loaded.graph.hosts] == pytest.approx([0.020, 0.010, 0.012])
    assert loaded.graph.hosts[0] == pytest.approx((0.020, 0.020, 0.060, True))
    assert loaded.server_delay_s == pytest.approx((0.030, 0.030, 0.0, 0.038, 0.0))


def test_the_tls_handshake_of_firefox_files_is_not_part_of_the_connect_phase(tmp_path: Path) -> None:
    """The time of an entry then equals the sum of the phases with ssl."""
    loaded = page(tmp_path, entry(connect=30.0, ssl=60.0, changes={"time": 190.0}))
    assert loaded.graph.hosts[0] == pytest.approx((0.030, 0.0, 0.060, True))


def test_webpagetest_entries_begin_when_the_request_is_sent(tmp_path: Path) -> None:
    """The request precedes the handshakes, whose TCP part is _connect_ms."""
    old = {"_all_start": 1000, "_load_start": 1100, "_load_end": 1200, "_connect_ms": 40, "_initiator": None}
    loaded = page(tmp_path, entry(), entry("https://y/a.js", 1.1, JS, connect=100.0, ssl=60.0, changes=old))
    assert anchors(loaded) == [(0, False, 0.9)]
    assert loaded.graph.hosts[1].rtt_s == pytest.approx(0.040)


@pytest.mark.parametrize(
    ("version", "multiplexed"),
    [
        *((name, True) for name in ("h2", "HTTP/2.0", "spdy/3", "h3", "http/2+quic/46", "", "me:", None)),
        *((name, False) for name in ("HTTP/1.1", "http/1.0", "1.1")),
    ],
)
def test_the_protocol_version_determines_whether_requests_are_multiplexed(
    tmp_path: Path, version, multiplexed: bool
) -> None:
    """HTTP/2 is assumed if the version is unknown."""
    workload = read(tmp_path, [entry(changes={"response": {"httpVersion": version}})])
    (loaded,) = workload.pages
    assert loaded.graph.releases[0].multiplexed is multiplexed
    unknown = version in ("", "me:", None)
    assert ("protocol unknown, HTTP/2 assumed" in workload.remark) is unknown


def test_an_unknown_protocol_is_replaced_by_the_most_frequent_protocol_of_the_host(tmp_path: Path) -> None:
    """Old WebPagetest versions omit the protocol from a header line."""
    old = {"response": {"httpVersion": "HTTP/1.1"}}
    loaded = page(
        tmp_path, entry(changes=old), entry("https://x/a", 0.2, changes={"response": {"httpVersion": "me:"}})
    )
    assert [release.multiplexed for release in loaded.graph.releases] == [False, False]


REMARKS = {
    "dependencies are inferred from request order": {"_initiator": None},
    "round-trip times are inferred from waits": {"timings": {"connect": -1, "ssl": -1}},
    "protocol unknown, HTTP/2 assumed": {"response": {"httpVersion": ""}},
    "sizes are uncompressed": {"response": {"_transferSize": -1}},
    "server delays unknown, 0 assumed; page times are lower bounds": {"timings": {"wait": -1}},
}


@pytest.mark.parametrize("missing", [None, *REMARKS])
def test_the_remark_lists_missing_fields(tmp_path: Path, missing) -> None:
    """Each missing field has one remark."""

    def incomplete(url="https://x/", at=0.0, mime=HTML):
        whole = entry(url, at, mime, connect=60.0, ssl=30.0, changes={"_initiator": "https://x/"})
        return merge(whole, REMARKS.get(missing, {}))

    remark = read(tmp_path, [incomplete(), incomplete("https://x/a.js", 0.4, JS)]).remark
    assert [text for text in REMARKS if text in remark] == [text for text in REMARKS if text == missing]
    assert "2 objects replayed, 0 entries left out (0 cached, 0 failed, 0 other)" in remark
    assert "dependencies: " in remark
    assert "recorded network: median round trip " in remark


def test_the_estimated_link_rate_is_the_maximum_over_half_a_second(tmp_path: Path) -> None:
    """1 MB in 1 s is 8 Mbit/s; simultaneous objects are added."""
    large = {"response": {"_transferSize": 1_000_000}}
    alone = read(tmp_path, [entry(receive=1000.0, changes=large)])
    assert "at least 8 Mbit/s" in alone.remark
    both = read(tmp_path, [entry("https://x/a", receive=1000.0, changes=large)] * 2)
    assert "at least 16 Mbit/s" in both.remark


def test_pushed_objects_have_no_server_delay(tmp_path: Path) -> None:
    """WebPagetest marks pushed objects."""
    loaded = page(
        tmp_path, entry(), entry("https://x/a.js", 0.2, JS, wait=90.0, changes={"_was_pushed": "1"})
    )
    assert loaded.server_delay_s == (0.0, 0.0)


def test_entries_of_safari_are_split_into_pages_by_idle_time(tmp_path: Path) -> None:
    """Safari assigns all entries to one page."""
    entries = [entry(), entry("https://x/next", 5.0)]
    assert len(read(tmp_path, entries, creator={"name": "WebKit Web Inspector"}).pages) == 2


def test_for_independent_runs_the_remark_states_the_source_of_think_times(tmp_path: Path) -> None:
    """Think times are sampled from the published table, or constant, also before the first page."""
    path = tmp_path / "runs.har"
    entries = [entry(), entry(at=20.0, changes={"pageref": "page_2"})]
    pages = [{"id": "page_1", "_run": 1}, {"id": "page_2", "_run": 2}]
    path.write_text(json.dumps({"log": {"version": "1.2", "pages": pages, "entries": entries}}))
    drawn, fixed = load_workload(str(path), 5, 1), load_workload(f"{path}:think_s=7", 5, 1)
    assert (
        "1 think time is not recorded and sampled from the published table (Mah 1997); see think_s"
        in drawn.remark
    )
    assert "2 think times are not recorded and set to 7 s" in fixed.remark
    assert [page_.think_s for page_ in fixed.pages] == [7.0, 7.0]
    assert drawn.pages[0].think_s == 0.0
    single = load_workload(str(path), 1, 1)
    assert "a single page has no think time, unless think_s is set" in single.remark


def test_the_lower_bound_of_a_server_delay_excludes_queueing(tmp_path: Path) -> None:
    """100 kB at 1.6 Mbit/s take 0.5 s, the wait of the second object. Other objects have no bound."""
    large = {"response": {"_transferSize": 100_000}}
    entries = [entry(wait=50.0, receive=500.0, changes=large), entry("https://x/a.js", 0.05, JS, wait=600.0)]
    (page_,) = read(tmp_path, entries).pages
    (low,) = load_workload(f"{tmp_path / 'a.har'}:server_delay_ms=low", 5, 1).pages
    assert page_.server_delay_s == pytest.approx((0.0, 0.55))
    assert low.server_delay_s == pytest.approx((0.0, 0.05))
    path = tmp_path / "s.txt"
    path.write_text(SHOWTRACE)
    with pytest.raises(
        InputError, match="server_delay_ms=low requires a HAR file, got a file in the format UCB"
    ):
        load_workload(f"{path}:server_delay_ms=low", 5, 1)
