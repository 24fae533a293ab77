"""Trace file: Chrome trace events as text, written a block at a time.

Source: "Trace Event Format", Google. Times are in microseconds, here whole ones: a third of the work.
"""

from __future__ import annotations

from json import dumps
from typing import BinaryIO

_ENOUGH = 1024


class TraceFile:
    """Trace file of one process, the station; its tracks are threads.

    Arguments of events are JSON texts, so that events that come often need no general encoder.
    """

    def __init__(self, file: BinaryIO, process: str) -> None:
        self._file = file
        self._lines: list[str] = []
        file.write(b'{"displayTimeUnit":"ms","traceEvents":[\n')
        self._name("process_name", 0, process)

    def track(self, number: int, name: str) -> None:
        """Declare a track; tracks are shown in the order of their numbers."""
        self._name("thread_name", number, name)
        order = f'"name":"thread_sort_index","args":{{"sort_index":{number}}}'
        self._lines.append(f'{{"ph":"M","pid":1,"tid":{number},{order}}}')

    def slice(self, track: int, name: str, begins_s: float, ends_s: float, facts: str = "") -> None:
        """Add something that lasts.

        Parameters
        ----------
        track
            The number of its track.
        name
            What it is, without signs that JSON escapes.
        begins_s, ends_s
            When, in seconds.
        facts
            More about it: members of a JSON object.
        """
        begins_us = int(1e6 * begins_s + 0.5)
        lines = self._lines
        lines.append(
            f'{{"ph":"X","pid":1,"tid":{track},"name":"{name}","ts":{begins_us},'
            f'"dur":{int(1e6 * ends_s + 0.5) - begins_us},"args":{{{facts}}}}}'
        )
        if len(lines) > _ENOUGH:
            self._write()

    def counter(self, name: str, time_s: float, values: str) -> None:
        """Add a new value of a counter.

        Parameters
        ----------
        name
            The counter, with its unit.
        time_s
            When, in seconds.
        values
            Its series: members of a JSON object.
        """
        lines, time_us = self._lines, int(1e6 * time_s + 0.5)
        lines.append(f'{{"ph":"C","pid":1,"name":"{name}","ts":{time_us},"args":{{{values}}}}}')
        if len(lines) > _ENOUGH:
            self._write()

    def close(self) -> None:
        """Write what is left; the file is not complete before."""
        self._file.write(",\n".join(self._lines).encode())
        self._lines = []
        self._file.write(b"\n]}\n")

    def _name(self, kind: str, number: int, name: str) -> None:
        named = f'"name":"{kind}","args":{{"name":{dumps(name)}}}'
        self._lines.append(f'{{"ph":"M","pid":1,"tid":{number},{named}}}')

    def _write(self) -> None:
        """Write all but the last line, so that a comma follows whatever is written here."""
        *lines, last = self._lines
        self._file.write((",\n".join(lines) + ",\n").encode())
        self._lines = [last]
