"""Records of the UCB Home IP trace in both formats."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.ucb import (
    HEADER,
    METHODS,
    UNDEFINED,
    Record,
    binary_records,
    is_secondary,
    record_of_text,
    text_records,
)
from tests.workload.recordings.ucb_files import binary, text

SAMPLE = Path(__file__).resolve().parents[3] / ".." / "shared" / "data" / "ucb-sample"
FIRST_LINE = b"GET 9168504434183313441..gif HTTP/1.0"
FIRST_NUMBERS = (
    *(848278028, 829593, 848278028, 893670, 848278028, 895350),
    *(0x17F00862, 1462, 0xCF24CDC2, 80, 2, 8),
    *(UNDEFINED, UNDEFINED, 835418853, 170, 844, len(FIRST_LINE)),
)
FIRST_TEXT = (
    b"848278028:829593 848278028:893670 848278028:895350 23.240.8.98:1462 207.36.205.194:80 2 8 "
    b"4294967295 4294967295 835418853 170 844 37 GET 9168504434183313441..gif HTTP/1.0"
)
FIRST_BYTES = bytes.fromhex(
    "328fb20c 000ca899 328fb20c 000da2e6 328fb20c 000da976 17f00862 05b6 cf24cdc2 0050 02 08 ffffffff "
    "ffffffff 31cb7ae5 000000aa 0000034c 0025".replace(" ", "")
)


FIRST = Record._make((*FIRST_NUMBERS, FIRST_LINE))


@st.composite
def records(draw: st.DrawFn) -> Record:
    """Draw a record: any header, and any single request line that begins with a method."""
    line = draw(
        st.one_of(st.just(b""), st.builds(bytes.__add__, st.sampled_from(METHODS), st.binary(max_size=80)))
    ).replace(b"\n", b"n")
    header = draw(st.binary(min_size=HEADER.size - 2, max_size=HEADER.size - 2)) + len(line).to_bytes(
        2, "big"
    )
    return Record._make((*HEADER.unpack(header), line))


def test_both_formats_of_the_example_in_the_archive_give_the_same_record() -> None:
    """The page of the archive has the bytes and the text."""
    assert binary(FIRST) == FIRST_BYTES + FIRST_LINE
    assert text(FIRST) == FIRST_TEXT + b"\n"
    assert record_of_text(FIRST_TEXT) == FIRST


def test_the_published_records_are_the_same_in_both_formats() -> None:
    """The files have the same four real records."""
    if not SAMPLE.is_dir():
        pytest.skip("the published sample records are not next to this repository")
    of_binary = list(binary_records(ChunkReader(SAMPLE / "published-4-records.tr")))
    assert of_binary == list(text_records(ChunkReader(SAMPLE / "published-4-records.txt")))
    assert of_binary[0] == FIRST
    third = of_binary[2]
    assert (third.crs, third.sru, third.rhl, third.rdl) == (846890340, 2147, 64, 1)
    assert of_binary[1].line == b"GET 21068906053917068819..html HTTP/1.0"


@given(record=records())
def test_parsing_the_text_of_a_record_gives_the_same_record(record: Record) -> None:
    assert record_of_text(text(record)[:-1]) == record


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (FIRST_TEXT.replace(b":1462", b""), "13 fields"),
        (FIRST_TEXT.replace(b"23.240.8.98", b"23.240.8.256"), "dotted quads"),
        (FIRST_TEXT.replace(b":1462", b":65536"), "does not fit"),
        (FIRST_TEXT.replace(b" 170 ", b" 4294967296 "), "does not fit"),
        (FIRST_TEXT.replace(b" 37 ", b" 38 "), "must have 38 bytes, .*, got 37"),
        (FIRST_TEXT.replace(b"GET", b"GOT"), "must begin with GET, HEAD, POST or PUT"),
        (b"", "13 fields"),
    ],
)
def test_text_that_is_not_a_record_is_an_error(line, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        record_of_text(line)


def test_lines_with_a_carriage_return_or_without_a_request_line_are_read() -> None:
    """The carriage return is not part of the line by the length field."""
    assert record_of_text(FIRST_TEXT + b"\r").line == FIRST_LINE
    empty = Record._make((*[1] * 17, 0, b""))
    assert record_of_text(text(empty)[:-1]) == empty
    assert record_of_text(text(empty).rstrip()) == empty


@pytest.mark.parametrize(
    ("line", "secondary"),
    [
        (b"GET 12..gif HTTP/1.0", True),
        (b"GET 12..GIF", True),
        (b"GET 21068906053917068819. HTTP/1.0", False),
        (b"POST 7.q.map HTTP/1.0", False),
        (b"HEAD 7.qc.class HTTP/1.1", True),
        (b"GET 7.c HTTP/1.0", False),
        (b"GET 7..a/b;c=\xe9 HTTP/1.0", False),
        (b"GET 7..a b", False),
        (b"PUT nonsense", False),
        (b"", False),
    ],
)
def test_the_suffix_of_a_url_marks_embedded_objects(line: bytes, secondary: bool) -> None:
    """Flags, odd bytes and HTTP/0.9 are tried. An invalid request line has no suffix."""
    assert is_secondary(line) is secondary
