"""BU-Web-Client logs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.workload import load_workload
from psm_sim.workload.recordings import bu_web_logs
from psm_sim.workload.recordings.recording import UNKNOWN
from psm_sim.workload.recordings.recording_reader import read_recording

LOG = """\
cs20 785526125 920156 "http://cs-www.bu.edu/" 2009 0.518815
cs20 785526127 920156 "http://cs-www.bu.edu/lib/pics/bu-logo.gif" 1804 0.484092
cs20 785526127 920156 "http://cs-www.bu.edu/lib/pics/cached.gif" 0 0.0
cs20 785526140 920156 "http://www.w3.org/a b.html" 500 2.5
cs21 785526141.25 7 "http://cs-www.bu.edu/lib/pics/bu-logo.GIF" 1804 0.1
"""


def log(folder, text=LOG):
    """A log with this text."""
    path = folder / "con1.cs20.785526125"
    path.write_text(text)
    return path


def test_a_session_by_hand(tmp_path: Path) -> None:
    """Users are clients; images join their page; the browser's cache moves no packets."""
    found = read_recording(log(tmp_path))
    assert found.format == "BU-Web-Client log"
    assert set(found.clients) == {"920156", "7"}
    assert found.records == 5
    client = found.clients.index("920156")
    pages = found.pages_of(client)
    assert found.objects_per_page[pages].tolist() == [2, 1]
    assert found.think_s[pages][1] == pytest.approx(12.515908)
    assert np.isnan(found.think_s[pages][0])
    assert (found.delay_us == UNKNOWN).all()


def test_a_client_whose_name_is_a_number_is_chosen_by_id(tmp_path: Path) -> None:
    """clients=7 would be the seven busiest."""
    path = log(tmp_path)
    assert [page.main_bytes for page in load_workload(f"{path}:clients=id:7", 9, 1).pages] == [1804]
    assert [page.total_bytes for page in load_workload(str(path), 9, 1).pages] == [3813, 500]


@pytest.mark.parametrize(
    "line", ['cs20 785526125 920156 "http://x/" many 0.5', "cs20 785526125 920156 http://x/ 1 0.5", "\xe9"]
)
def test_a_line_that_is_no_request_is_named_by_its_number(tmp_path: Path, line: str) -> None:
    with pytest.raises(InputError, match=r'line 6: expected machine time user "URL" size seconds, got'):
        read_recording(log(tmp_path, LOG + line + "\n"))


def test_blank_lines_are_no_requests_and_long_logs_are_kept_in_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many requests as a batch holds, one more, and a blank line between."""
    once = read_recording(log(tmp_path, LOG))
    monkeypatch.setattr(bu_web_logs, "_BATCH", 2)
    twice = read_recording(log(tmp_path, LOG.replace("\n", "\n\n", 1)))
    assert twice.records == once.records == 5
    assert twice.size.tolist() == once.size.tolist()
    assert twice.clients == once.clients


def test_an_address_that_is_none_is_a_request_all_the_same(tmp_path: Path) -> None:
    """An IPv6 host cut short is taken as it is written; it embeds nothing."""
    found = read_recording(log(tmp_path, LOG.replace("http://www.w3.org/a b.html", "http://[::1/a.gif")))
    pages = found.pages_of(found.clients.index("920156"))
    assert found.objects_per_page[pages].tolist() == [2, 1]
