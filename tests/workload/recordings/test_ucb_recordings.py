"""UCB files as recordings: hand-computed pages, and damaged files."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.workload import load_workload, load_workloads
from psm_sim.workload.recordings.page_grouping import PageRule
from psm_sim.workload.recordings.recording import UNKNOWN
from psm_sim.workload.recordings.recording_reader import read_page_recording
from psm_sim.workload.recordings.ucb import UNDEFINED


def test_records_are_read_as_the_hand_computed_pages(trace) -> None:
    """Requests of a small trace are grouped into pages with think times.

    Client 1 loads a page of three objects (main at 0, images at 1 and 2, last byte at 4), and 6 s later a
    page whose image comes from another server and is therefore another page, as is an image 61 s later.
    Requests of client 2 in between do not matter. Records are in the order of completion, as in the archive.
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
    recording = read_page_recording(path)
    assert recording.clients == ("0.0.0.1", "0.0.0.2")
    assert recording.page_client.tolist() == [0, 0, 0, 0, 1]
    assert recording.objects_per_page.tolist() == [3, 1, 1, 1, 1]
    assert recording.size.tolist() == [5000, 2000, 300, 400, 50, 60, 77]
    assert recording.delay_us.tolist() == [200_000] + [100_000] * 6
    assert recording.think_s[1:4].tolist() == [6.0, 0.25, 60.6]
    assert np.isnan(recording.think_s[[0, 4]]).all()
    assert (recording.records, recording.span_s) == (7, 71.6)


def test_the_workload_of_a_client_has_exactly_the_pages_of_that_client(trace) -> None:
    """Sizes, delays and gaps are as recorded; request sizes come from the published table."""
    r = trace.record
    path = trace(
        r(0, size=5000, delay_s=0.2), r(0.1, kind="..gif", size=70), r(30, size=400), r(9999, size=9)
    )
    pages = load_workload(str(path), 10, 1).pages
    assert [page.think_s for page in pages] == [0.0, 29.4, 1000.0]
    assert [(page.main_bytes, page.image_bytes) for page in pages] == [(5000, (70,)), (400, ()), (9, ())]
    assert pages[0].server_delay_s == (0.2, 0.1)
    assert all(118 <= size <= 1373 for page in pages for size in page.request_bytes)
    as_recorded = load_workload(
        f"{path}:max_think_s=none,request_bytes=256,server_delay_ms=none", 10, 1
    ).pages
    assert as_recorded[2].think_s == 9968.5
    assert (as_recorded[0].request_bytes, as_recorded[0].server_delay_s) == ((256, 256), (0.0, 0.0))


def test_the_parameters_of_the_page_rule_change_which_requests_form_a_page(trace) -> None:
    """The gap and the same-server condition can be set, on the command line, too."""
    r = trace.record
    path = trace(r(0), r(50, server=8, kind="..gif"), r(100, server=8, kind="..gif"))
    assert read_page_recording(path).pages == 2
    assert read_page_recording(path, PageRule(page_gap_s=40)).pages == 3
    assert read_page_recording(path, PageRule(same_server=False)).pages == 1
    assert len(load_workload(f"{path}:page_gap_s=40,same_server=no", 9, 1).pages) == 3


def test_the_think_time_is_0_if_a_page_is_requested_before_the_previous_page_has_ended(trace) -> None:
    """The think time is not negative."""
    r = trace.record
    assert read_page_recording(trace(r(0, took_s=30), r(5))).think_s[1] == 0


def test_stopped_requests_have_no_delay_and_requests_without_bytes_are_omitted(trace) -> None:
    """Received bytes count if response times are undefined; requests without bytes are skipped."""
    r = trace.record
    path = trace(
        r(0, delay_s=None, took_s=None, size=500),
        r(3, size=0),
        r(10, rdl=UNDEFINED, rhl=120),
        r(20, rdl=UNDEFINED, rhl=UNDEFINED),
    )
    recording = read_page_recording(path)
    assert recording.records == 4
    assert recording.size.tolist() == [500, 120]
    assert recording.delay_us.tolist() == [UNKNOWN, 100_000]
    assert recording.think_s[1] == 10.0


def test_a_response_that_precedes_its_request_has_an_unknown_delay(trace) -> None:
    """The clock has jumped, and the page ends at its start."""
    r = trace.record
    recording = read_page_recording(trace(r(10, delay_s=-5, took_s=-4), r(12)))
    assert recording.delay_us[0] == UNKNOWN
    assert recording.think_s[1] == 2.0


def test_records_without_a_request_time_are_omitted_with_a_warning(trace) -> None:
    """Seconds or microseconds are undefined."""
    r = trace.record
    recording = read_page_recording(trace(r(None), r(1, cru=UNDEFINED), r(2)))
    assert (recording.pages, recording.records) == (1, 3)
    assert "2 records without a request time" in recording.warnings[0]
    with pytest.raises(InputError, match="has no complete request"):
        read_page_recording(trace(r(None)))


@pytest.mark.parametrize("name", ["t.tr", "t.tr.gz", "t.txt", "t.txt.gz", "anything.at.all"])
def test_the_format_is_recognised_by_the_content_of_a_file_rather_than_by_its_name(
    trace, tmp_path: Path, name: str
) -> None:
    written = trace(*(trace.record(k) for k in range(5)), name=name)
    other = tmp_path / "strange.name"
    other.write_bytes(written.read_bytes())
    assert read_page_recording(other).pages == read_page_recording(written).pages == 5


def test_a_truncated_file_gives_all_complete_records_and_a_warning_with_the_offset(trace) -> None:
    """Every length of a small file is tried."""
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
                read_page_recording(path)
            continue
        recording = read_page_recording(path)
        assert recording.records == cut // length
        odd = cut % length
        expected = f"the last record, at byte {cut - odd:,}, is truncated; its {odd} bytes were omitted"
        assert [expected in warning for warning in recording.warnings] == [True] * bool(odd)


def test_all_readable_records_of_a_truncated_gzip_file_are_read(trace, tmp_path: Path) -> None:
    """Every length gives a warning or an error, and not more records than the file has."""
    r = trace.record
    whole = trace(*(r(k * 100, size=k + 1, cpt=k * 37) for k in range(200)), name="t.tr.gz").read_bytes()
    max_records, errors = 0, []
    for cut in range(0, len(whole) - 1, 7):
        path = tmp_path / "cut.tr.gz"
        path.write_bytes(whole[:cut])
        try:
            recording = read_page_recording(path)
        except InputError as error:
            errors.append(str(error))
        else:
            assert any("gzip data ends early" in warning for warning in recording.warnings)
            max_records = max(max_records, recording.records)
    assert 100 < max_records <= 200
    assert all("cut.tr.gz" in message for message in errors)


def test_the_error_for_a_damaged_record_has_the_offset_of_the_record(trace) -> None:
    """A wrong length field is detected at the next request line."""
    data = bytearray(trace(*(trace.record(k) for k in range(3))).read_bytes())
    length = len(data) // 3
    data[length + 59] -= 1
    path = trace()
    path.write_bytes(data)
    with pytest.raises(InputError, match=rf"t\.tr: the record at byte {2 * length - 1} is damaged"):
        read_page_recording(path)
    data[length + 59] += 1
    path.write_bytes(data[:length] + data[length:].replace(b"GET", b"GOT", 1))
    with pytest.raises(InputError, match=rf"t\.tr: the record at byte {length} is damaged"):
        read_page_recording(path)


def test_the_error_for_a_damaged_line_of_text_has_the_line_number(trace) -> None:
    path = trace(*(trace.record(k) for k in range(3)), name="t.txt")
    text = path.read_bytes()
    for bad, message in [
        (text.replace(b" 80 ", b" x ", 1) + b"nonsense\n", "line 4: expected the 13 fields"),
        (text + b"9" * 10_000_000, "line 4: a line must be at most 1,048,576 bytes long"),
        (text[:-20] + b"\0" + text[-20:], f"byte {len(text) - 20} is NUL"),
    ]:
        path.write_bytes(bad)
        with pytest.raises(InputError, match=message):
            read_page_recording(path)


def test_concatenated_gzip_members_with_padding_are_read_as_one_file(trace, tmp_path: Path) -> None:
    """The four files of the archive can be concatenated."""
    part = trace(trace.record(1)).read_bytes()
    path = tmp_path / "two.tr.gz"
    path.write_bytes(gzip.compress(part) + gzip.compress(part) + b"\0" * 512)
    recording = read_page_recording(path)
    assert (recording.records, recording.warnings) == (2, ())


def test_the_error_for_damaged_gzip_data_has_the_offset(trace, tmp_path: Path) -> None:
    data = bytearray(trace(*(trace.record(k, size=k + 1) for k in range(500)), name="t.tr.gz").read_bytes())
    data[10:20] = b"\xff" * 10
    path = tmp_path / "bad.tr.gz"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"bad\.tr\.gz: corrupt gzip data after"):
        read_page_recording(path)


def test_clients_can_be_selected_by_activity_or_identifier(trace) -> None:
    """The selection is the busiest client, one by address, the k busiest, or all."""
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
def test_the_error_for_a_wrong_parameter_of_a_recording_has_the_parameter_name(
    trace, parameters: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load_workload(f"{trace(trace.record(0))}:{parameters}", 1, 1)
