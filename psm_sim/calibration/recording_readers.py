"""Readers of recordings of a current: CSV, ``.ppk2`` (Power Profiler Kit II) and ``.jls`` (Joulescope)."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from psm_sim.calibration.recording import Recording, make_recording, rounding_of
from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.formatting import pluralize
from psm_sim.common.input_files import open_input
from psm_sim.common.input_limits import MAX_RECORDS

if TYPE_CHECKING:
    from pandas import Series

# At 10 and 40 kHz, ``python -m tests.calibration.judge --seed 1 2 3`` passes the same 100 of 105 recordings.
_MAX_RATE_HZ = 20_000.0
_MAX_SAMPLES = 4_000_000  # of which an estimate takes 1.2 s of processor time and 250 MiB
_MIN_SAMPLES, _MIN_S = 100, 1.0  # ten beacons at the usual interval
# Maximum rounding of the times, relative to the recorded length. Its square, 25 ppm, is the error of the
# beacon interval.
_MAX_ROUNDING = 5e-3
_LONG_GAP_S = 1.0  # a logger that drops samples loses less than a second at a time
_CLIPPED = 10  # ratio of samples at the largest and at the next current, above which a meter may clip
_MAX_MA = 1e4  # maximum of a Joulescope; a larger current has a wrong unit
# Samples read at once. A CSV file of 4,000,000 samples takes 0.9 s of processor time and 65 MiB. A quarter of
# this number takes 0.9 s and 59 MiB, and four times this number 0.9 s and 150 MiB.
_CHUNK = 1 << 18
_FRAME = np.dtype([("ua", "<f4"), ("bits", "<u2")])
_CLOCK = "hh:mm:ss"
TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""Scale of each unit of time to seconds."""

LEVEL_UNITS = {
    f"{prefix}{unit}": scale
    for unit in "AW"
    for prefix, scale in (("", 1e3), ("m", 1.0), ("u", 1e-3), ("n", 1e-6))
}
"""Scale of each unit of a current to mA, and of a power to mW."""

Chunks = Generator[tuple[FloatArray, FloatArray], None, None]


class _Columns(NamedTuple):
    """Columns of time and of current or power in a CSV file, and their units."""

    time: int
    level: int
    time_unit: str
    level_unit: str


def read_recording(path: Path, units: tuple[str, str] | None = None, supply_v: float = 3.3) -> Recording:
    """Read a recording of a current.

    Samples are averaged while they are read if their rate exceeds 20 kHz or their number 4 million.

    Parameters
    ----------
    path : Path
        File. The suffix distinguishes ``.ppk2`` and ``.jls`` from CSV.
    units : tuple of str, optional
        Units of time, and of current or power, in a CSV file. By default, the units in the header.
    supply_v : float
        Voltage by which a power is divided.

    Raises
    ------
    InputError
        If the file cannot be read, or its times are not ascending.
    """
    read = {".ppk2": _ppk2_chunks, ".jls": _jls_chunks}.get(path.suffix.lower())
    try:
        with (
            open_input(path) as file,
            closing(read(path, file) if read else _csv_chunks(path, file, units, supply_v)) as chunks,
        ):
            times_s, currents_ma, rows, missing = _averaged(path, chunks)
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}; specify a readable file."
        ) from error
    length_s = times_s[-1] - times_s[0] if times_s.size else 0.0
    if times_s.size < _MIN_SAMPLES or length_s < _MIN_S:
        raise InputError(
            f"{path} has {pluralize(rows - missing, 'sample')} in {length_s:.3g} s; expected at least"
            f" {_MIN_SAMPLES} in {_MIN_S:g} s; record e.g. 10 s at 10 kHz, or correct the unit of time."
        )
    if (rounding_s := rounding_of(times_s)) > _MAX_ROUNDING * length_s:
        raise InputError(
            f"{path}: the times are rounded to {rounding_s:.3g} s; expected at most"
            f" {1e3 * _MAX_ROUNDING * length_s:.3g} ms in {length_s:.3g} s, e.g. time stamps in ms."
        )
    if not currents_ma.mean() > 0:
        raise InputError(
            f"{path} must have a mean current above 0, got {currents_ma.mean():.3g} mA; if the meter was"
            " connected the other way round, change the signs."
        )
    warnings = []
    if missing:
        warnings.append(f"Samples without a number are left out: {missing:,} of {rows:,} in {path}.")
    waits_s = np.diff(times_s)
    if (wait_s := waits_s.max()) > _LONG_GAP_S:
        warnings.append(
            f"{path} has no samples for {wait_s:.3g} s, {times_s[waits_s.argmax()] - times_s[0]:.3g} s after"
            " its start; if the clock was set there, the beacon interval is wrong, so use one part only."
        )
    levels_ma, counts = np.unique(currents_ma, return_counts=True)
    if _CLIPPED * counts[-2:].min() < counts[-1] < currents_ma.size / 2:
        warnings.append(
            f"{counts[-1]:,} samples in {path} have the same largest current, {levels_ma[-1]:.4g} mA; if this"
            " is the end of the meter's range, the charges are too low."
        )
    return make_recording(times_s, currents_ma, tuple(warnings))


def _averaged(path: Path, chunks: Chunks) -> tuple[FloatArray, FloatArray, int, int]:
    """Return start times and mean currents of blocks of samples, and the numbers of rows and invalid rows.

    Invalid rows, in which the time or the current is not a number, are omitted.
    """
    kept = [(np.empty(0), np.empty(0))]
    rest = kept[0]
    last_s, block, size, rows, missing = -np.inf, 0, 0, 0, 0
    for read_s, read_ma in chunks:
        rows += read_s.size
        if rows > MAX_RECORDS:
            raise InputError(
                f"{path} must have at most {MAX_RECORDS:,} samples; use a shorter recording, 60 s are enough."
            )
        is_number = np.isfinite(read_s) & np.isfinite(read_ma)
        missing += int((~is_number).sum())
        if not is_number.any():
            continue
        _check(path, last_s, read_s[is_number], read_ma[is_number])
        times_s = np.append(rest[0], read_s[is_number])
        currents_ma = np.append(rest[1], read_ma[is_number])
        last_s = float(times_s[-1])
        block = block or _block_size(times_s)
        whole = times_s.size - times_s.size % block
        rest = times_s[whole:], currents_ma[whole:]
        kept.append((times_s[:whole:block].copy(), currents_ma[:whole].reshape(-1, block).mean(axis=1)))
        size += whole // block
        if size > _MAX_SAMPLES:
            times_s, currents_ma = map(np.concatenate, zip(*kept, strict=True))
            size, block = size // 2, 2 * block
            kept = [(times_s[: 2 * size : 2].copy(), currents_ma[: 2 * size].reshape(-1, 2).mean(axis=1))]
    times_s, currents_ma = map(np.concatenate, zip(*kept, strict=True))
    return times_s, currents_ma, rows, missing


def _check(path: Path, last_s: float, times_s: FloatArray, currents_ma: FloatArray) -> None:
    """Check that times do not decrease from *last_s* on, and that no current is too large."""
    before_s = np.append(last_s, times_s[:-1])
    if (falls := np.flatnonzero(times_s < before_s)).size:
        at = falls[0]
        raise InputError(
            f"{path}: the time must not decrease, got {times_s[at]:.9g} s after {before_s[at]:.9g} s; sort"
            " the rows, or use one recording per file."
        )
    if (highest := float(np.abs(currents_ma).max())) > _MAX_MA:
        raise InputError(
            f"{path}: a current must be at most {_MAX_MA / 1e3:,.0f} A, got {highest / 1e3:.3g} A; check the"
            " unit, e.g. --units ms,uA."
        )


def _block_size(times_s: FloatArray) -> int:
    """Return the block size, in samples, for which the block rate is at most 20 kHz."""
    if times_s.size < 2 or times_s[-1] <= times_s[0]:
        return 1
    return max(1, int((times_s.size - 1) / (times_s[-1] - times_s[0]) / _MAX_RATE_HZ + 0.01))


def _csv_chunks(path: Path, file: IO[bytes], units: tuple[str, str] | None, supply_v: float) -> Chunks:
    import pandas as pd

    head = file.peek(1 << 16)[: 1 << 16] if isinstance(file, io.BufferedReader) else b""
    encoding = _encoding(head)
    lines = head.decode(encoding, "replace").splitlines()
    comments = next((index for index, line in enumerate(lines) if not line.startswith("#")), 0)
    lines = lines[comments:]
    if len(lines) < 2 or "\0" in lines[0]:
        raise InputError(
            f"{path} is no CSV file; expected a header such as Timestamp(ms),Current(uA), and rows."
        )
    separator = next((one for one in ";\t" if one in lines[1]), ",")
    names = [name.strip().strip('"') for name in lines[0].split(separator)]
    has_header = not all(map(_is_number, names))
    columns = _columns(path, names if has_header else [], units, lines[1].split(separator))
    has_comma = separator != "," or '"' in lines[1]
    scale = LEVEL_UNITS[columns.level_unit] / (supply_v if columns.level_unit.endswith("W") else 1.0)
    try:
        with pd.read_csv(
            file,
            sep=separator,
            header=None,
            skiprows=comments + has_header,
            index_col=False,
            decimal="," if has_comma and "." not in lines[1] else ".",
            chunksize=_CHUNK,
            encoding=encoding,
            low_memory=False,
        ) as frames:
            for frame in frames:
                if frame.shape[1] > len(names) and frame[len(names)].notna().any():
                    raise InputError(
                        f"{path}: expected rows of {len(names)} values, as in the header, got"
                        f" {frame.shape[1]}; a decimal comma requires another separator."
                    )
                times = _numbers(path, frame[columns.time], are_clock_times=columns.time_unit == _CLOCK)
                yield (
                    times * TIME_UNITS.get(columns.time_unit, 1.0),
                    scale * _numbers(path, frame[columns.level]),
                )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} is no valid CSV file: {str(error).strip()}; expected rows of {len(names)} numbers."
        ) from error


def _encoding(head: bytes) -> str:
    """Return UTF-8, or Latin-1 if the lines are not valid UTF-8, e.g. because of a Latin-1 micro sign."""
    try:
        head.rpartition(b"\n")[0].decode()
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


def _numbers(path: Path, values: Series[Any], *, are_clock_times: bool = False) -> FloatArray:
    """Return the numbers in a column. Clock times, with or without a date, are converted to seconds."""
    import pandas as pd

    if are_clock_times:
        text = values.astype(str)
        dates = text.where(text.str.contains("-"), "1970-01-01T" + text)
        times = pd.to_datetime(dates, format="ISO8601", errors="coerce", utc=True)
        numbers = np.asarray((times - pd.Timestamp(0, tz="UTC")).dt.total_seconds(), float)
    else:
        numbers = pd.to_numeric(values, errors="coerce").to_numpy(float)
    is_text = np.isnan(numbers) & values.notna().to_numpy()
    if is_text.sum() > 0.01 * numbers.size + 1:
        raise InputError(
            f"{path}: times, currents and powers must be numbers, got {str(values[is_text].iloc[0])!r}; a"
            " time can also be written as 12:00:01.5 or 2026-03-01T12:00:01.5, and a decimal comma requires"
            " another separator."
        )
    return numbers


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _columns(path: Path, names: list[str], units: tuple[str, str] | None, first_row: list[str]) -> _Columns:
    """Return the columns that *names* describe; without *names*, the first two columns.

    Clock times such as 12:00:01 in the first row need no unit.
    """
    if not names:
        if units is None:
            raise InputError(f"{path} has no header; add --units, e.g. --units ms,mA.")
        return _Columns(0, 1, *units)
    columns = {_kind(name): index for index, name in reversed(list(enumerate(names)))}
    level = columns.get("current", columns.get("power"))
    if "time" not in columns or level is None:
        raise InputError(
            f"{path} must have a column of time and one of current or power, got"
            f" {', '.join(names)!r}; expected a header such as Timestamp(ms),Current(uA)."
        )
    own = units or (_unit(names[columns["time"]], TIME_UNITS), _unit(names[level], LEVEL_UNITS))
    if ":" in "".join(first_row[columns["time"] :][:1]):
        own = _CLOCK, own[1]
    if not all(own):
        raise InputError(
            f"{path}: the columns {names[columns['time']]!r} and {names[level]!r} have no units; add"
            " --units, e.g. --units ms,mA."
        )
    return _Columns(columns["time"], level, *own)


def _kind(name: str) -> str:
    """Return the quantity in a column, from a word in its name or else from its unit."""
    words = {"time": "time", "current": "current", "amp": "current", "power": "power"}
    units = {"s": "time", "A": "current", "W": "power", "": ""}
    named = next((kind for word, kind in words.items() if word in name.lower()), "")
    return named or units[_unit(name, TIME_UNITS | LEVEL_UNITS)[-1:]]


def _unit(name: str, units: dict[str, float]) -> str:
    """Return the unit at the end of the name of a column, such as ``Current(uA)`` or ``millis``."""
    name = {"millis": "ms", "micros": "us"}.get(name.lower(), name)
    match = re.search(r"(?:^|[^A-Za-zµμ])([munµμ]?[sAWaw])\W*$", name)
    text = re.sub("[µμ]", "u", match[1]) if match else ""
    return next((unit for unit in units if text in (unit, unit.lower())), "")


def _ppk2_chunks(path: Path, file: IO[bytes]) -> Chunks:
    """Yield the samples of a ZIP file with ``metadata.json`` and ``session.raw``, 6 bytes per sample."""
    try:
        with zipfile.ZipFile(file) as archive:
            with archive.open("metadata.json") as part:
                metadata = json.loads(part.read(1 << 20))
            rate_hz = float(metadata["metadata"]["samplesPerSecond"])
            if not 1 <= rate_hz <= 1e6:
                raise ValueError
            with archive.open("session.raw") as part:
                begin = 0
                while data := part.read(_CHUNK * _FRAME.itemsize):
                    frames = np.frombuffer(data[: len(data) // _FRAME.itemsize * _FRAME.itemsize], _FRAME)
                    yield (begin + np.arange(frames.size)) / rate_hz, frames["ua"].astype(float) / 1e3
                    begin += frames.size
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        LookupError,
        TypeError,
        ValueError,
        RuntimeError,
    ) as error:
        raise InputError(
            f"{path} is no valid .ppk2 file; expected the file that Power Profiler saves, or its CSV export."
        ) from error


def _jls_chunks(path: Path, file: IO[bytes]) -> Chunks:
    """Yield the samples of the signal ``current`` of a Joulescope."""
    try:
        from pyjls import Reader
    except ImportError:
        raise InputError(
            f"{path} requires pyjls; install psm_sim[calibrate], or export a CSV file."
        ) from None
    try:
        with Reader(str(path)) as reader:
            signal = next(one for one in reader.signals.values() if one.name == "current")
            for begin in range(0, signal.length, _CHUNK):
                count = min(_CHUNK, signal.length - begin)
                amperes = np.asarray(reader.fsr(signal.signal_id, begin, count), float)
                yield (begin + np.arange(count)) / signal.sample_rate, 1e3 * amperes
    except (RuntimeError, ValueError, StopIteration) as error:
        raise InputError(
            f"{path} is no valid .jls file: {error}; expected a recording with a current."
        ) from error
