"""Records of the UCB Home IP trace in both forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.common.errors import InputError
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.ucb_format import (
    HEADER,
    METHODS,
    UNDEFINED,
    Record,
    binary_batches,
    binary_of_text,
    dotted_quad,
    text_batches,
)
from psm_sim.workload.recordings.ucb_recordings import is_secondary

SAMPLE = Path(__file__).resolve().parents[3] / ".." / "shared" / "data" / "ucb-sample"
FIRST_NUMBERS = (
    *(848278028, 829593, 848278028, 893670, 848278028, 895350),
    *(0x17F00862, 1462, 0xCF24CDC2, 80, 2, 8),
    *(UNDEFINED, UNDEFINED, 835418853, 170, 844),
)
FIRST = Record(*FIRST_NUMBERS, line=b"GET 9168504434183313441..gif HTTP/1.0")
FIRST_TEXT = (
    b"848278028:829593 848278028:893670 848278028:895350 23.240.8.98:1462 207.36.205.194:80 2 8 "
    b"4294967295 4294967295 835418853 170 844 37 GET 9168504434183313441..gif HTTP/1.0"
)
FIRST_BYTES = bytes.fromhex(
    "328fb20c 000ca899 328fb20c 000da2e6 328fb20c 000da976 17f00862 05b6 cf24cdc2 0050 02 08 ffffffff "
    "ffffffff 31cb7ae5 000000aa 0000034c 0025".replace(" ", "")
)


def decoded(data: bytes) -> Record:
    """Return the record that *data* holds: the header and the whole request line."""
    *numbers, length = HEADER.unpack_from(data)
    fields: list[Any] = [*numbers, data[HEADER.size :]]
    assert len(fields[-1]) == length
    return Record(*fields)


def unsigned(octets):
    """Any unsigned number of so many bytes."""
    return st.integers(0, 256**octets - 1)


lines = st.one_of(
    st.just(b""),
    st.builds(lambda method, rest: method + rest, st.sampled_from(METHODS), st.binary(max_size=80)),
)
records = st.builds(
    Record,
    **{
        name: unsigned(4)
        for name in [
            "crs",
            "cru",
            "srs",
            "sru",
            "sls",
            "slu",
            "cip",
            "sip",
            "cims",
            "sexp",
            "slmd",
            "rhl",
            "rdl",
        ]
    },
    cpt=unsigned(2),
    spt=unsigned(2),
    cprg=unsigned(1),
    sprg=unsigned(1),
    line=lines,
)


def test_the_worked_example_of_the_archive_in_both_forms() -> None:
    """The record on the archive's page encodes to the bytes and the text it shows, and decodes from them."""
    assert FIRST.binary() == FIRST_BYTES + FIRST.line
    assert FIRST.text() == FIRST_TEXT
    assert decoded(FIRST_BYTES + FIRST.line) == FIRST
    header, line = binary_of_text(FIRST_TEXT)
    assert decoded(header + line) == FIRST
    assert dotted_quad(FIRST.cip) == "23.240.8.98"


def test_the_published_records_read_alike_from_both_forms_and_encode_back_byte_for_byte() -> None:
    """Four real records: the files are each other's translation."""
    if not SAMPLE.is_dir():
        pytest.skip("the published sample records are not beside this repository")
    binary, text = SAMPLE / "published-4-records.tr", SAMPLE / "published-4-records.txt"
    read = [record for batch in binary_batches(ChunkReader(binary)) for record in batch.records()]
    assert read == [record for batch in text_batches(ChunkReader(text)) for record in batch.records()]
    assert b"".join(record.binary() for record in read) == binary.read_bytes()
    assert b"".join(record.text() + b"\n" for record in read) == text.read_bytes()
    assert read[0] == FIRST
    assert (read[2].crs, read[2].sru, read[2].rhl, read[2].rdl) == (846890340, 2147, 64, 1)
    assert read[1].line == b"GET 21068906053917068819..html HTTP/1.0"
    assert [dotted_quad(record.cip) for record in read[1:]] == [
        "168.237.7.10",
        "13.35.251.117",
        "13.35.251.117",
    ]


@given(record=records)
def test_every_record_that_can_be_written_reads_back_in_binary(record) -> None:
    """Any numbers that fit, any bytes in the request line."""
    assert decoded(record.binary()) == record


@given(record=records)
def test_every_record_that_can_be_written_as_text_reads_back(record) -> None:
    """The same in showtrace's form, where the line holds no line feed and no NUL."""
    if b"\n" in record.line or b"\0" in record.line:
        with pytest.raises(InputError, match="cannot be written as text"):
            record.text()
    else:
        assert decoded(b"".join(binary_of_text(record.text()))) == record


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"line": b"TRACE 1.. HTTP/1.0"},
            "must begin with GET, HEAD, POST or PUT to be written, got b'TRACE 1.. HTTP/1.0'",
        ),
        ({"line": b"GET " + b"1" * 65536}, "cannot be written"),
        ({"crs": -1}, "A record cannot be written"),
        ({"spt": 65536}, "A record cannot be written"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(change, message: str) -> None:
    """The error says what does not fit."""
    fields = {name: getattr(FIRST, name) for name in Record.__slots__} | change
    with pytest.raises(InputError, match=message):
        Record(**fields).binary()


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
def test_text_that_is_no_record_is_refused(line, message: str) -> None:
    """The reason is named; the reader adds file and line."""
    with pytest.raises(ValueError, match=message):
        binary_of_text(line)


def test_a_line_with_windows_ending_and_one_without_request_line_are_read() -> None:
    """The length field tells that the carriage return is not part of the line; no line at all is legal."""
    assert binary_of_text(FIRST_TEXT + b"\r")[1] == FIRST.line
    fields: list[Any] = [*[1] * 17, b""]
    empty = Record(*fields)
    assert decoded(b"".join(binary_of_text(empty.text()))) == empty
    assert decoded(b"".join(binary_of_text(empty.text().rstrip()))) == empty


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
def test_what_a_page_embeds_is_told_by_its_suffix(line: bytes, secondary: bool) -> None:
    """Flags, suffixes with odd bytes, HTTP/0.9; and what cannot be parsed has no suffix."""
    assert is_secondary(line) is secondary
