"""UCB files as recordings: pages by hand, and files that are not as they should be."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.workload import load_workload, load_workloads
from psm_sim.workload.recordings.page_grouping import PageRule
from psm_sim.workload.recordings.recording import UNKNOWN
from psm_sim.workload.recordings.recording_reader import read_recording
from psm_sim.workload.recordings.ucb import UNDEFINED


def test_pages_reconstructed_by_hand(trace) -> None:
    """A small trace written out: which requests make which page, and the think times between.

    Client 1: a page of three (main at 0, images at 1 and 2, the last byte at 4), then 6 s later a page whose
    image comes from another server and so stands alone; an image 61 s after that stands alone too. Client 2's
    requests between them do not matter. Records are in the order of completion, as in the archive.
    """
    r = trace.record
    path = trace(
        r(0.0, size=5000, delay_s=0.2, took_s=1.5),
        r(0.5, client=2, size=77),
        r(2.0, kind="..jpg", size=300, took_s=1.0),
        r(1.0, kind="..gif", size=2000, took_s=3.0),
        r(10.0, size=400, took_s=0.25),
        r(10.5, server=8, kind="..gif", size=50, took_s=0.5),
        r(71.6, server=8, kind="..gif", size=60),
    )
    found = read_recording(path)
    assert found.clients == ("0.0.0.1", "0.0.0.2")
    assert found.page_client.tolist() == [0, 0, 0, 0, 1]
    assert found.objects_per_page.tolist() == [3, 1, 1, 1, 1]
    assert found.size.tolist() == [5000, 2000, 300, 400, 50, 60, 77]
    assert found.delay_us.tolist() == [200_000] + [100_000] * 6
    assert found.think_s[1:4].tolist() == [6.0, 0.25, 60.6]
    assert np.isnan(found.think_s[[0, 4]]).all()
    assert (found.records, found.span_s) == (7, 71.6)


def test_the_workload_of_that_client_is_exactly_those_pages(trace) -> None:
    """Replay gives sizes, delays and gaps as recorded; requests are filled from the published table."""
    r = trace.record
    path = trace(
        r(0, size=5000, delay_s=0.2), r(0.1, kind="..gif", size=70), r(30, size=400), r(9999, size=9)
    )
    pages = load_workload(str(path), 10, 1).pages
    assert [page.think_s for page in pages] == [0.0, 29.4, 1000.0]
    assert [(page.main_bytes, page.image_bytes) for page in pages] == [(5000, (70,)), (400, ()), (9, ())]
    assert pages[0].server_delay_s == (0.2, 0.1)
    assert all(118 <= size <= 1373 for page in pages for size in page.request_bytes)
    as_it_was = load_workload(f"{path}:max_think_s=none,request_bytes=256,server_delay_ms=none", 10, 1).pages
    assert as_it_was[2].think_s == 9968.5
    assert (as_it_was[0].request_bytes, as_it_was[0].server_delay_s) == ((256, 256), (0.0, 0.0))


def test_the_page_rule_has_parameters(trace) -> None:
    """The gap and the same-server condition can be changed, also from the command line."""
    r = trace.record
    path = trace(r(0), r(50, server=8, kind="..gif"), r(100, server=8, kind="..gif"))
    assert read_recording(path).pages == 2
    assert read_recording(path, PageRule(page_gap_s=40)).pages == 3
    assert read_recording(path, PageRule(same_server=False)).pages == 1
    assert len(load_workload(f"{path}:page_gap_s=40,same_server=no", 9, 1).pages) == 3


def test_a_user_who_does_not_wait_has_no_negative_think_time(trace) -> None:
    """The next page asked for before the last byte of the one before: think time 0."""
    r = trace.record
    assert read_recording(trace(r(0, took_s=30), r(5))).think_s[1] == 0


def test_stopped_requests_have_no_delay_and_empty_ones_are_left_out(trace) -> None:
    """Undefined response times: what was seen counts; nothing seen is skipped, as in Ford's client."""
    r = trace.record
    path = trace(
        r(0, delay_s=None, took_s=None, size=500),
        r(3, size=0),
        r(10, rdl=UNDEFINED, rhl=120),
        r(20, rdl=UNDEFINED, rhl=UNDEFINED),
    )
    found = read_recording(path)
    assert found.records == 4
    assert found.size.tolist() == [500, 120]
    assert found.delay_us.tolist() == [UNKNOWN, 100_000]
    assert found.think_s[1] == 10.0


def test_a_response_before_its_request_is_a_clock_jump(trace) -> None:
    """Its delay is unknown, and its page ends when it began."""
    r = trace.record
    found = read_recording(trace(r(10, delay_s=-5, took_s=-4), r(12)))
    assert found.delay_us[0] == UNKNOWN
    assert found.think_s[1] == 2.0


def test_records_without_a_request_time_are_left_out_with_a_warning(trace) -> None:
    """They cannot be placed; seconds or microseconds undefined are enough."""
    r = trace.record
    found = read_recording(trace(r(None), r(1, cru=UNDEFINED), r(2)))
    assert (found.pages, found.records) == (1, 3)
    assert "2 records without a request time" in found.warnings[0]
    with pytest.raises(InputError, match="has no complete request"):
        read_recording(trace(r(None)))


@pytest.mark.parametrize("name", ["t.tr", "t.tr.gz", "t.txt", "t.txt.gz", "anything.at.all"])
def test_the_form_is_told_by_content_not_by_name(trace, tmp_path: Path, name: str) -> None:
    written = trace(*(trace.record(k) for k in range(5)), name=name)
    other = tmp_path / "strange.name"
    other.write_bytes(written.read_bytes())
    assert read_recording(other).pages == read_recording(written).pages == 5


def test_a_cut_file_gives_everything_before_the_cut_and_a_warning_with_the_offset(trace) -> None:
    """Cut at every offset of a small file: whole records are kept, the rest is told."""
    r = trace.record
    whole = trace(*(r(k * 100) for k in range(4))).read_bytes()
    length = len(whole) // 4
    for cut in range(len(whole)):
        path = trace()
        path.write_bytes(whole[:cut])
        if cut < length:
            with pytest.raises(
                InputError, match=r"t\.tr (is empty|has an unknown format|has no complete request)"
            ):
                read_recording(path)
            continue
        found = read_recording(path)
        assert found.records == cut // length
        odd = cut % length
        said = f"the last record, at byte {cut - odd:,}, is truncated; its {odd} bytes were omitted"
        assert [said in warning for warning in found.warnings] == [True] * bool(odd)


def test_a_cut_gzip_file_gives_what_can_be_unpacked(trace, tmp_path: Path) -> None:
    """Cut at every offset: a warning or an error, never silence, and never more than there was."""
    r = trace.record
    whole = trace(*(r(k * 100, size=k + 1, cpt=k * 37) for k in range(200)), name="t.tr.gz").read_bytes()
    most, refused = 0, []
    for cut in range(0, len(whole) - 1, 7):
        path = tmp_path / "cut.tr.gz"
        path.write_bytes(whole[:cut])
        try:
            found = read_recording(path)
        except InputError as error:
            refused.append(str(error))
        else:
            assert any("gzip data ends early" in warning for warning in found.warnings)
            most = max(most, found.records)
    assert 100 < most <= 200
    assert all("cut.tr.gz" in message for message in refused)


def test_a_damaged_record_is_named_by_its_offset(trace) -> None:
    """A length field that leads astray is noticed at the next request line."""
    data = bytearray(trace(*(trace.record(k) for k in range(3))).read_bytes())
    length = len(data) // 3
    data[length + 59] -= 1
    path = trace()
    path.write_bytes(data)
    with pytest.raises(InputError, match=rf"t\.tr: the record at byte {2 * length - 1} is damaged"):
        read_recording(path)
    data[length + 59] += 1
    path.write_bytes(data[:length] + data[length:].replace(b"GET", b"GOT", 1))
    with pytest.raises(InputError, match=rf"t\.tr: the record at byte {length} is damaged"):
        read_recording(path)


def test_a_damaged_line_of_text_is_named_by_its_number(trace) -> None:
    path = trace(*(trace.record(k) for k in range(3)), name="t.txt")
    text = path.read_bytes()
    for bad, message in [
        (text.replace(b" 80 ", b" x ", 1) + b"nonsense\n", "line 4: expected the 13 fields"),
        (text + b"9" * 10_000_000, "line 4: a line must be at most 1,048,576 bytes long"),
        (text[:-20] + b"\0" + text[-20:], f"byte {len(text) - 20} is NUL"),
    ]:
        path.write_bytes(bad)
        with pytest.raises(InputError, match=message):
            read_recording(path)


def test_members_after_each_other_and_padding_are_one_gzip_file(trace, tmp_path: Path) -> None:
    """As when the archive's four files are put together."""
    part = trace(trace.record(1)).read_bytes()
    path = tmp_path / "two.tr.gz"
    path.write_bytes(gzip.compress(part) + gzip.compress(part) + b"\0" * 512)
    found = read_recording(path)
    assert (found.records, found.warnings) == (2, ())


def test_damaged_gzip_data_are_named_by_offset(trace, tmp_path: Path) -> None:
    data = bytearray(trace(*(trace.record(k, size=k + 1) for k in range(500)), name="t.tr.gz").read_bytes())
    data[10:20] = b"\xff" * 10
    path = tmp_path / "bad.tr.gz"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"bad\.tr\.gz: corrupt gzip data after"):
        read_recording(path)


def test_clients_are_chosen_by_activity_or_identifier(trace) -> None:
    """The busiest one, one by its address, the k busiest, or all."""
    r = trace.record
    path = trace(*(r(k * 9, client=c, size=c) for c, count in ((1, 2), (2, 4), (3, 3)) for k in range(count)))
    assert {page.main_bytes for page in load_workload(str(path), 9, 1).pages} == {2}
    assert {page.main_bytes for page in load_workload(f"{path}:clients=0.0.0.3", 9, 1).pages} == {3}
    several = load_workloads(f"{path}:clients=2", 9, 1)
    assert [workload.pages[0].main_bytes for workload in several] == [2, 3]
    assert [len(workload.pages) for workload in load_workloads(f"{path}:clients=all", 9, 1)] == [4, 3, 2]
    with pytest.raises(InputError, match="a run must have one client, got 3"):
        load_workload(f"{path}:clients=all", 9, 1)
    with pytest.raises(InputError, match="clients must be 1 to 3, all or an identifier, got 7"):
        load_workload(f"{path}:clients=7", 9, 1)
    with pytest.raises(InputError, match=r"Unknown client of trace t\.tr '0\.0\.0\.9'"):
        load_workload(f"{path}:clients=0.0.0.9", 9, 1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("wander=0.1", "trace t.tr: wander has no effect without workload=sample"),
        ("server_delay_ms=soon", "server_delay_ms must be .*, got 'soon'"),
    ],
)
def test_wrong_parameters_of_a_recording_are_named(trace, parameters: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_workload(f"{trace(trace.record(0))}:{parameters}", 1, 1)
