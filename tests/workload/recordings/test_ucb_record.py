"""Records of the UCB Home IP trace in both forms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.common.errors import InputError
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.ucb_format import (
    DTYPE,
    HEADER,
    METHODS,
    UNDEFINED,
    Batch,
    batch_bytes,
    batch_text,
    binary_batches,
    binary_of_text,
    dotted_quad,
    text_batches,
)
from psm_sim.workload.recordings.ucb_recordings import is_secondary

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


def batch_of(numbers: tuple[int, ...], line: bytes) -> Batch:
    """Return a batch of one record."""
    return Batch(np.array([numbers], DTYPE), [line])


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    """Draw a batch of one record: any header, and any request line that begins with a method."""
    line = draw(
        st.one_of(st.just(b""), st.builds(bytes.__add__, st.sampled_from(METHODS), st.binary(max_size=80)))
    )
    header = draw(st.binary(min_size=HEADER.size - 2, max_size=HEADER.size - 2)) + len(line).to_bytes(
        2, "big"
    )
    return Batch(np.frombuffer(header, DTYPE), [line])


def test_the_worked_example_of_the_archive_in_both_forms() -> None:
    """The record on the archive's page encodes to the bytes and the text it shows, and decodes from them."""
    first = batch_of(FIRST_NUMBERS, FIRST_LINE)
    assert batch_bytes(first) == FIRST_BYTES + FIRST_LINE
    assert batch_text(first) == FIRST_TEXT + b"\n"
    assert binary_of_text(FIRST_TEXT) == (FIRST_BYTES, FIRST_LINE)
    assert dotted_quad(0x17F00862) == "23.240.8.98"


def test_the_published_records_read_alike_from_both_forms_and_encode_back_byte_for_byte() -> None:
    """Four real records: the files are each other's translation."""
    if not SAMPLE.is_dir():
        pytest.skip("the published sample records are not beside this repository")
    binary, text = SAMPLE / "published-4-records.tr", SAMPLE / "published-4-records.txt"
    (of_binary,), (of_text,) = binary_batches(ChunkReader(binary)), text_batches(ChunkReader(text))
    for batch in (of_binary, of_text):
        assert batch_bytes(batch) == binary.read_bytes()
        assert batch_text(batch) == text.read_bytes()
        assert batch.fields[0].item() == FIRST_NUMBERS
        assert batch.fields[["crs", "sru", "rhl", "rdl"]][2].item() == (846890340, 2147, 64, 1)
        assert batch.lines[:2] == [FIRST_LINE, b"GET 21068906053917068819..html HTTP/1.0"]


@given(batch=batches())
def test_every_record_that_can_be_written_as_text_reads_back(batch: Batch) -> None:
    """In showtrace's form the line holds no line feed and no NUL."""
    if b"\n" in batch.lines[0] or b"\0" in batch.lines[0]:
        with pytest.raises(InputError, match="cannot be written as text"):
            batch_text(batch)
    else:
        assert b"".join(binary_of_text(batch_text(batch)[:-1])) == batch_bytes(batch)


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
    with pytest.raises(ValueError, match=message):
        binary_of_text(line)


def test_a_line_with_windows_ending_and_one_without_request_line_are_read() -> None:
    """The length field tells that the carriage return is not part of the line; no line at all is legal."""
    assert binary_of_text(FIRST_TEXT + b"\r")[1] == FIRST_LINE
    empty = batch_of((*[1] * 17, 0), b"")
    assert b"".join(binary_of_text(batch_text(empty)[:-1])) == batch_bytes(empty)
    assert b"".join(binary_of_text(batch_text(empty).rstrip())) == batch_bytes(empty)


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
