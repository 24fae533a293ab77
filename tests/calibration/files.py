"""Files of recordings, and a generator of damaged ones."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from random import Random

import numpy as np

from tests.calibration.generator import Floats


def csv_text(
    times_s: Floats,
    level_ma: Floats,
    header: str = "Timestamp(ms),Current(uA)",
    scales: tuple[float, float] = (1e3, 1e3),
    separator: str = ",",
    decimal: str = ".",
) -> str:
    """Return a CSV file in the units of the *header*, which are *scales* times seconds and milliamperes."""
    rows = (
        separator.join(f"{value:.6f}".replace(".", decimal) for value in row)
        for row in zip(scales[0] * times_s, scales[1] * level_ma, strict=True)
    )
    return "\n".join([header, *rows]) + "\n"


def ppk2_bytes(level_ma: Floats, rate_hz: float) -> bytes:
    """Return a ``.ppk2`` file, in which each sample has a current in uA and eight digital channels."""
    frames = np.zeros(level_ma.size, [("ua", "<f4"), ("bits", "<u2")])
    frames["ua"] = 1e3 * level_ma
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        metadata = {"formatVersion": 2, "metadata": {"samplesPerSecond": rate_hz, "startSystemTime": 1.6e12}}
        archive.writestr("metadata.json", json.dumps(metadata))
        archive.writestr("session.raw", frames.tobytes())
        archive.writestr("minimap.raw", b"{}")
    return file.getvalue()


def zip_bomb(path: Path, samples: int) -> None:
    """Write a ``.ppk2`` file of *samples* zeros, which takes a thousandth of their size."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("metadata.json", json.dumps({"metadata": {"samplesPerSecond": 100_000}}))
        with archive.open("session.raw", "w") as part:
            for _ in range(samples // 100_000):
                part.write(bytes(600_000))


_WORDS: Sequence[bytes] = (
    b"nan",
    b"inf",
    b"-1e308",
    b"-5",
    b"",
    b"1,5",
    b"\xff\xfe",
    b"abc",
    b'"',
    b"1e400",
    b"0",
)


def damage(data: bytes, rng: Random) -> bytes:
    """Return *data* with damage: truncated, changed bytes, moved or repeated rows, replaced cells."""
    for _ in range(rng.randint(1, 3)):
        kind = rng.randrange(6)
        if kind == 0:
            data = data[: rng.randrange(len(data) + 1)]
        elif kind == 1 and data:
            at = rng.randrange(len(data))
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        elif kind == 2:
            lines = data.split(b"\n")
            at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines.insert(to, lines.pop(at))
            data = b"\n".join(lines)
        elif kind == 3:
            lines = data.split(b"\n")
            lines[rng.randrange(len(lines))] *= rng.randrange(3)
            data = b"\n".join(lines)
        elif kind == 4:
            old = rng.choice((b",", b"\n", b".", b"1", b"(ms)", b"Current"))
            data = data.replace(old, rng.choice((b";", b"\t", b"", b" ")), rng.choice((1, -1)))
        else:
            lines = data.split(b"\n")
            at = rng.randrange(len(lines))
            cells = lines[at].split(b",")
            cells[rng.randrange(len(cells))] = rng.choice(_WORDS)
            lines[at] = b",".join(cells)
            data = b"\n".join(lines)
    return data
