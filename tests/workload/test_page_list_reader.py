"""Page lists in CSV."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.common.errors import InputError
from psm_sim.workload import Page, load_workload, read_page_list, write_page_list

HEADER = "page,think_s,main_bytes,images\n"
SIZES = st.integers(1, 2**32 - 1)
TIMES = st.floats(0, 1e9, allow_nan=False).map(abs)


@st.composite
def page_views(draw):
    """Generate a page."""
    images = tuple(draw(st.lists(SIZES, max_size=5)))
    n = 1 + len(images)
    requests = tuple(draw(st.lists(SIZES, min_size=n, max_size=n)))
    delays = tuple(draw(st.lists(TIMES, min_size=n, max_size=n)))
    return Page(draw(TIMES), draw(SIZES), images, requests, delays)


def written(folder: Path, text: str | bytes) -> Path:
    """Return a file with this content."""
    path = folder / "list.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@given(pages=st.lists(page_views(), min_size=1, max_size=5))
def test_reading_a_written_page_list_gives_the_same_pages(
    tmp_path_factory: pytest.TempPathFactory, pages
) -> None:
    path = tmp_path_factory.getbasetemp() / "round-trip.csv"
    assert write_page_list(path, pages) == len(pages)
    assert read_page_list(path) == tuple(pages)


def test_a_hand_written_page_list_gives_the_expected_pages(tmp_path: Path) -> None:
    """Missing columns have defaults."""
    path = written(tmp_path, HEADER + "1,2.5,1000,200;300\n2,0,64,\n")
    assert read_page_list(path) == (
        Page(2.5, 1000, (200, 300), (337,) * 3, (0.0,) * 3),
        Page(0.0, 64, (), (337,), (0.0,)),
    )


def test_an_optional_column_has_either_one_value_per_page_or_one_per_object(tmp_path: Path) -> None:
    """An empty cell has the default."""
    text = (
        "page,think_s,main_bytes,images,server_delay_s,request_bytes\n1,1,9,8;7,0.5,400\n2,1,9,8,0.1;0.2,\n"
    )
    first, second = read_page_list(written(tmp_path, text))
    assert first.server_delay_s == (0.5, 0.5, 0.5)
    assert first.request_bytes == (400, 400, 400)
    assert second.server_delay_s == (0.1, 0.2)
    assert second.request_bytes == (337, 337)


def test_trace_parameters_set_the_values_that_the_file_does_not_have(tmp_path: Path) -> None:
    """FILE:key=value sets the request size and the server delay."""
    path = written(tmp_path, HEADER + "1,1,100,\n")
    workload = load_workload(f"{path}:request_bytes=99,server_delay_ms=20", 1, 1)
    assert workload.pages[0].request_bytes == (99,)
    assert workload.pages[0].server_delay_s == (0.02,)
    assert workload.parameters == {"request_bytes": 99, "server_delay_ms": 20.0}


@pytest.mark.parametrize(
    ("requested", "replayed", "words"),
    [(2, 2, "the first 2 of 3"), (3, 3, "all 3"), (9, 3, "all 3")],
)
def test_a_page_list_is_replayed_and_never_repeated(
    tmp_path: Path, requested: int, replayed: int, words: str
) -> None:
    """The first N pages are replayed; the remark has both numbers."""
    path = written(tmp_path, HEADER + "1,1,100,\n2,2,200,\n3,3,300,\n")
    workload = load_workload(str(path), requested, seed=5)
    assert [page.think_s for page in workload.pages] == [1.0, 2.0, 3.0][:replayed]
    assert words in workload.remark
    assert not workload.synthetic


LINES = "".join(f"{n},1,100,\n" for n in range(1, 56))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "list.csv is empty; expected the header page,think_s,main_bytes,images"),
        (HEADER, "list.csv has no pages"),
        ("page,think_s,images\n1,2,3\n", "line 1: missing column 'main_bytes'"),
        (HEADER.replace("images", "images,size"), "line 1: unknown column 'size'"),
        (HEADER.replace("images", "images,page"), "line 1: duplicate column 'page'"),
        (HEADER + LINES + "56,many,100,\n", "line 57: think_s must be a time .*, got 'many'"),
        (HEADER + "1,1,0,\n", "line 2: main_bytes must be an integer number of bytes from 1 to .*, got '0'"),
        (HEADER + "one,1,10,\n", "line 2: page must be an integer page number, got 'one'"),
        (HEADER + "2,1,10,\n2,1,10,\n", "line 3: page must be more than 2, the page before it, got 2"),
        (HEADER + "1,1,10\n", "line 2: expected 4 values, as in the header, got 3"),
        (HEADER + '1,1,10,"5\n', "line 2: unexpected end of data"),
        (
            HEADER.strip() + ",request_bytes\n1,1,10,5;6,7;8\n",
            "request_bytes must have one value, or one for .*, got 2 values",
        ),
        (b"page,think_s\0,main_bytes,images\n", "byte 12 is NUL"),
        (b"\xff\xfepage", "line 1: byte 0 of the line is not UTF-8"),
        (HEADER + "1,1," + "9" * 200_000 + ",\n", "line 2: main_bytes must be .*, got '9{37}\\.\\.\\.'"),
    ],
)
def test_errors_state_file_and_line_and_column_and_value_and_expectation(
    tmp_path: Path, text, message: str
) -> None:
    """The message is one sentence with the position and a remedy."""
    with pytest.raises(InputError, match=message) as caught:
        load_workload(str(written(tmp_path, text)), 10, 1)
    assert "list.csv" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_page_list_above_the_limits_of_pages_or_objects_or_bytes_is_an_error(tmp_path, monkeypatch):
    path = tmp_path / "list.csv"
    path.write_text(HEADER + "".join(f"{n},1,1,2;3\n" for n in range(1, 5)))
    for name, value, message in (
        ("psm_sim.workload.page_list.MAX_LINES", 3, "line 5: expected at most 3 pages"),
        (
            "psm_sim.workload.page_view.MAX_OBJECTS",
            8,
            "line 4: expected at most 8 objects in all pages, got 9",
        ),
        ("psm_sim.workload.page_list.MAX_FILE_BYTES", 10, "must be at most 0 MiB after decompression"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(name, value)
            with pytest.raises(InputError, match=message):
                read_page_list(path)


def test_a_page_of_30000_objects_can_be_written_and_read(tmp_path: Path) -> None:
    """More objects than fit in a line are an error, and the file is unchanged."""
    page = Page(1.0, 100, (200,) * 30_000, (300,) * 30_001, (0.0,) * 30_001)
    write_page_list(tmp_path / "x.csv", [page])
    assert read_page_list(tmp_path / "x.csv") == (page,)
    long = Page(1.0, 100, (200,) * 300_000, (300,) * 300_001, (0.0,) * 300_001)
    with pytest.raises(InputError, match="has 300,001 objects, too many for a line of at most"):
        write_page_list(tmp_path / "x.csv", [long])
    assert read_page_list(tmp_path / "x.csv") == (page,)
