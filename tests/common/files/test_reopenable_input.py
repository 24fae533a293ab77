"""Special files: read when they can be, refused in a sentence when they cannot, and never waited on."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from psm_sim.cli import main
from psm_sim.common.errors import InputError
from psm_sim.common.files import reopenable_input
from psm_sim.common.files.reopenable_input import open_seekable, read_text
from psm_sim.common.files.toml_reader import read_toml
from psm_sim.workload.recordings import chunk_reader, client_requests, har

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no such files elsewhere")

LOG = 'm 785526125 u "http://x/a.html" 2009 0.5\nm 785526135 u "http://x/b.html" 2009 0.5\n'


@pytest.fixture
def fifo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A FIFO, and little patience."""
    monkeypatch.setattr(reopenable_input, "PIPE_TIMEOUT_S", 0.2)
    os.mkfifo(tmp_path / "fifo")
    return tmp_path / "fifo"


def test_a_pipe_is_read_once_and_given_again(fifo: Path) -> None:
    """A trace is looked at before it is read; what was given once stays there."""
    writer = threading.Thread(target=fifo.write_text, args=[LOG])
    writer.start()
    for _ in range(3):
        with open_seekable(fifo) as file:
            assert file.read().decode() == LOG
    writer.join()


def test_a_trace_comes_through_a_pipe() -> None:
    """``cat log | psm_sim trace info /dev/stdin``."""
    words = [sys.executable, "-m", "psm_sim", "trace", "info", "/dev/stdin"]
    done = subprocess.run(words, input=LOG, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Pages    2" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        "--trace fifo.csv",
        "--trace fifo.toml",
        "--trace fifo.tr",
        "--topology fifo.toml",
        "--policy lpsm:state=fifo.toml",
        "replay --trace fifo.tr",
        "trace info fifo.har",
        "trace convert fifo.tr --to x.csv",
        "trace fit fifo.csv --to x.toml",
        "sweep fifo.toml",
        "--preset fifo.toml",
    ],
)
def test_a_pipe_to_which_nobody_writes_is_given_up(
    fifo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    """After some patience, in a sentence."""
    monkeypatch.chdir(fifo.parent)
    for suffix in ("csv", "toml", "tr", "har"):
        os.mkfifo(f"fifo.{suffix}")
    assert main(words.split()) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert "has sent no data for 0.2 s; expected" in told or "Topology file not found" in told


REFUSED = "is a (device, a terminal or a socket|kernel file, which may never end); expected"


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/null", "/dev/tty", "/proc/kmsg"])
def test_a_device_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], device: str) -> None:
    """Also one that never ends, behind a link with the name of a trace or of a state file."""
    if not Path(device).exists():
        pytest.skip(f"there is no {device}")
    for name in ("x.csv", "x.tr", "x.toml"):
        (tmp_path / name).symlink_to(device)
        assert main(["--trace", str(tmp_path / name)]) == 2
        assert re.search(REFUSED, capsys.readouterr().err)
    assert main(["--policy", f"lpsm:state={tmp_path / 'x.tr'}"]) == 2
    assert re.search(REFUSED, capsys.readouterr().err)


def test_a_socket_is_refused(tmp_path: Path) -> None:
    """It cannot be opened at all."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        with pytest.raises(InputError, match="is a device, a terminal or a socket"):
            open_seekable(tmp_path / "s")


def test_large_files_are_not_taken_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of text, of a pipe, of any trace unpacked, of entries and of requests."""
    (tmp_path / "x").write_text("x" * 5000)
    with pytest.raises(InputError, match="is larger than 4 KiB"):
        read_text(tmp_path / "x", 4096)
    monkeypatch.setattr(chunk_reader, "MAX_BYTES", 1 << 20)
    with pytest.raises(InputError, match="must be at most 0 MiB after decompression"):
        list(chunk_reader.ChunkReader(tmp_path / "x", max_bytes=4096).chunks())
    monkeypatch.setattr(har, "MAX_BRACKETS", 100)
    (tmp_path / "x.har").write_text(json.dumps({"log": {"entries": [{}] * 100}}))
    with pytest.raises(InputError, match="has over 100 brackets"):
        har.read_log(chunk_reader.ChunkReader(tmp_path / "x.har"))
    monkeypatch.setattr(client_requests, "MAX_RECORDS", 1)
    (tmp_path / "x.log").write_text(LOG)
    assert main(["trace", "info", str(tmp_path / "x.log")]) == 2


def test_toml_is_bounded_in_size_depth_and_keys(tmp_path: Path) -> None:
    """Nested lists and tables, dotted keys, and very many of them."""
    texts = {
        "[" + "a." * 100_000 + "a]": "nested deeper than 20",
        "x = " + "[" * 50 + "]" * 50: "nested deeper than 20",
        "[" + ".".join("a" * 30) + "]": "nested deeper than 20",
        "x = " + "[" * 5000 + "]" * 5000: "is not a valid topology: ",
        "\n".join(f"k{number} = 1" for number in range(20_000)): "more than 10,000 keys",
        "#" * (1 << 21): "is larger than 1,024 KiB",
    }
    for text, message in texts.items():
        (tmp_path / "x.toml").write_text(text)
        with pytest.raises(InputError, match=message):
            read_toml(tmp_path / "x.toml", "topology")


def test_a_trace_whose_name_has_a_colon_and_an_equals_sign_can_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that exists is what its name says."""
    monkeypatch.chdir(tmp_path)
    Path("a:b=c.log").write_text(LOG)
    assert main(["trace", "info", "a:b=c.log"]) == 0


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("trace convert s.txt --to q.tr --pages 5", "--pages=5 has no effect"),
        ("trace convert s.txt --to q.tr --seed 3", "--seed=3 has no effect"),
        ("trace convert s.txt:clients=zzz --to q.tr", "clients=zzz has no effect"),
        ("trace convert s.txt:nosuch=1 --to q.tr", "nosuch=1 has no effect"),
        ("trace convert p.csv --to q.csv --seed 3", "--seed=3 has no effect"),
        ("trace info ucb:nosuch=1", "nosuch=1 has no effect"),
        ("trace info p.csv:nosuch=1", "no parameter 'nosuch'"),
        ("trace fit p.csv:nosuch=1 --to x.toml", "no parameter 'nosuch'"),
        ("replay --trace s.log --pages 3", "--pages has no effect"),
        ("replay --trace s.log --rate-kbps=3", "--rate-kbps has no effect"),
        ("replay --trace s.log --seed 3", "--seed has no effect"),
        ("replay --other-loss inverse", "--other-loss has no effect"),
        ("replay --learner static-expert --horizon 50", "--horizon has no effect"),
        ("replay --trace p.csv --seed 3", "--seed has no effect"),
        ("--policy psm --force", "--force requires --output"),
        ("sweep --policy psm --loss inverse", "loss is given, but it concerns none"),
        ("sweep --vary pages=2,3 --pages 7", "pages is given twice"),
        ("sweep --vary seed=2,3 --seed=7", "seed is given twice"),
        ("sweep --vary trace=ucb,modern --trace ucb", "trace is given twice"),
        ("sweep --vary topology=modern --topology modern", "topology is given twice"),
        ("sweep --cluster tcp://127.0.0.1:1 --workers 2", "has workers of its own"),
        ("sweep --store=", "--store must be a file name, got ''"),
        ("trace convert s.log --to=", "--to must be a file name, got ''"),
        ("trace fit s.log --to=", "--to must be a file name, got ''"),
    ],
)
def test_what_a_command_does_not_use_is_refused_by_name(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: str,
    named: str,
) -> None:
    """An option, and a parameter of the trace; nothing is written."""
    monkeypatch.chdir(tmp_path)
    Path("s.log").write_text(LOG)
    Path("p.csv").write_text("page,think_s,main_bytes,images\n1,1,1000,\n")
    assert main(["trace", "synthesize", "--records", "50", "--to", "s.tr"]) == 0
    assert main(["trace", "convert", "s.tr", "--to", "s.txt"]) == 0
    capsys.readouterr()
    assert main(words.split()) == 2
    assert named in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"s.log", "p.csv", "s.tr", "s.txt"}


def test_pages_sampled_from_a_recording_can_be_converted(tmp_path: Path) -> None:
    """A hundred of them, as of a profile, where none are asked for."""
    (tmp_path / "s.log").write_text(LOG)
    to = tmp_path / "q.csv"
    assert main(["trace", "convert", f"{tmp_path / 's.log'}:workload=sample", "--to", str(to)]) == 0
    assert len(to.read_text().splitlines()) == 101


def test_a_page_of_very_many_objects_is_written_as_it_can_be_read(tmp_path: Path) -> None:
    """30,000 of them; what would be too long for a line is refused."""
    from psm_sim.workload import Page, read_page_list
    from psm_sim.workload.page_list_writer import write_page_list

    page = Page(1.0, 100, (200,) * 30_000, (300,) * 30_001, (0.0,) * 30_001)
    write_page_list(tmp_path / "x.csv", [page])
    assert read_page_list(tmp_path / "x.csv") == (page,)
    long = Page(1.0, 100, (200,) * 300_000, (300,) * 300_001, (0.0,) * 300_001)
    with pytest.raises(InputError, match="has 300,001 objects, too many for a line of at most"):
        write_page_list(tmp_path / "x.csv", [long])
    assert read_page_list(tmp_path / "x.csv") == (page,)
