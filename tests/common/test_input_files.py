"""Input files: special files and files that are too large are rejected."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from psm_sim.cli import main
from psm_sim.common.errors import InputError
from psm_sim.common.input_files import read_text, read_toml
from psm_sim.workload.recordings import chunk_reader, har, ucb
from tests.workload.recordings.ucb_files import SHOWTRACE

needs_posix = pytest.mark.skipif(os.name != "posix", reason="requires POSIX files")


@needs_posix
@pytest.mark.parametrize(
    "words",
    [
        "--trace fifo.csv",
        "--trace fifo.tr",
        "--topology fifo.toml",
        "sweep fifo.toml",
        "--preset fifo.toml",
    ],
)
def test_a_pipe_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for suffix in ("csv", "toml", "tr", "har"):
        os.mkfifo(f"fifo.{suffix}")
    assert main(words.split()) == 2
    (message,) = capsys.readouterr().err.splitlines()
    assert "is a pipe or a device" in message or "not found" in message


@needs_posix
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_a_device_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str], device: str) -> None:
    """A link with the name of a trace does not avoid the error."""
    if not Path(device).exists():
        pytest.skip(f"there is no {device}")
    for name in ("x.csv", "x.tr", "x.toml"):
        (tmp_path / name).symlink_to(device)
        assert main(["--trace", str(tmp_path / name)]) == 2
        assert "is a pipe or a device; expected" in capsys.readouterr().err


def test_large_files_are_rejected_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limits are those of texts, unpacked traces, entries and requests."""
    (tmp_path / "x").write_text("x" * 5000)
    with pytest.raises(InputError, match="is larger than 4 KiB"):
        read_text(tmp_path / "x", 4096)
    monkeypatch.setattr(chunk_reader, "MAX_TRACE_BYTES", 1 << 20)
    with pytest.raises(InputError, match="must be at most 0 MiB after decompression"):
        list(chunk_reader.ChunkReader(tmp_path / "x", max_bytes=4096).chunks())
    monkeypatch.setattr(har, "MAX_BRACKETS", 100)
    (tmp_path / "x.har").write_text(json.dumps({"log": {"entries": [{}] * 100}}))
    with pytest.raises(InputError, match="has over 100 brackets"):
        har.read_log(chunk_reader.ChunkReader(tmp_path / "x.har"))
    monkeypatch.setattr(ucb, "MAX_RECORDS", 1)
    (tmp_path / "x.txt").write_text(SHOWTRACE)
    assert main(["trace", "info", str(tmp_path / "x.txt")]) == 2


def test_a_toml_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "phone.toml").write_text("[power]\nawake_w = 2\n", encoding="utf-8-sig")
    assert read_toml(tmp_path / "phone.toml", "topology") == {"power": {"awake_w": 2}}


def test_large_and_deeply_nested_toml_files_are_rejected(tmp_path: Path) -> None:
    texts = {
        "x = " + "[" * 5000 + "]" * 5000: "is not a valid topology: ",
        "#" * (1 << 21): "is larger than 1,024 KiB",
    }
    for text, message in texts.items():
        (tmp_path / "x.toml").write_text(text)
        with pytest.raises(InputError, match=message):
            read_toml(tmp_path / "x.toml", "topology")
