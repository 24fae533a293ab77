"""Trace file: Chrome trace events as text, written a block at a time; each station is a process of it.

Source: "Trace Event Format", Google. Times are in microseconds, here whole ones: a third of the work.
"""

from __future__ import annotations

from collections import deque
from json import dumps
from typing import BinaryIO

_ENOUGH = 1024


class TraceFile:
    """Trace file, complete when all of its processes are closed; ``lines`` wait to be written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._begun, self._open = file, 0, 0
        self.lines: list[str] = []
        file.write(b'{"displayTimeUnit":"ms","traceEvents":[\n')

    def process(self, name: str) -> Process:
        """Return a new process; they are shown in the order in which they are made."""
        self._begun, self._open = self._begun + 1, self._open + 1
        return Process(self, self._begun, name)

    def write(self) -> None:
        """Write all but the last line, so that a comma follows whatever is written here."""
        self._file.write((",\n".join(self.lines[:-1]) + ",\n").encode())
        del self.lines[:-1]

    def close(self) -> None:
        """Take note that a process is closed; with the last one the file is complete."""
        self._open -= 1
        if not self._open:
            self._file.write(",\n".join(self.lines).encode())
            self.lines.clear()
            self._file.write(b"\n]}\n")


class Process:
    """Process of a trace file, a station: its tracks are threads.

    Arguments of events are JSON texts, so that events that come often need no general encoder. What is
    added to a closed one is left out.

    Parameters
    ----------
    file
        Where it stands.
    number, name
        Its place among the processes, from 1, and what it is.
    """

    def __init__(self, file: TraceFile, number: int, name: str) -> None:
        self._file = file
        self._lines: list[str] | deque[str] = file.lines
        self._slice, self._counter = (f'{{"ph":"{phase}","pid":{number},' for phase in "XC")
        self._meta = f'{{"ph":"M","pid":{number},"tid":'
        self._says(0, "process_name", f'"name":{dumps(name)}')
        self._says(0, "process_sort_index", f'"sort_index":{number}')

    def track(self, number: int, name: str) -> None:
        """Declare a track; tracks are shown in the order of their numbers."""
        self._says(number, "thread_name", f'"name":{dumps(name)}')
        self._says(number, "thread_sort_index", f'"sort_index":{number}')

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
        begins_us, ends_us = int(1e6 * begins_s + 0.5), int(1e6 * ends_s + 0.5)
        self.add(
            f'{self.slice_text(track, name)}{begins_us},"dur":{ends_us - begins_us},"args":{{{facts}}}}}'
        )

    def slice_text(self, track: int, name: str) -> str:
        """Return how a slice on a track begins, up to its time, for one that comes often."""
        return f'{self._slice}"tid":{track},"name":"{name}","ts":'

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
        self.add(f'{self.counter_text(name)}{int(1e6 * time_s + 0.5)},"args":{{{values}}}}}')

    def counter_text(self, name: str) -> str:
        """Return how a value of a counter begins, up to its time."""
        return f'{self._counter}"name":"{name}","ts":'

    def add(self, event: str) -> None:
        """Add an event, or several with a comma and a new line between them."""
        lines = self._lines
        lines.append(event)
        if len(lines) > _ENOUGH:
            self._file.write()

    def close(self) -> None:
        """Add nothing more."""
        self._lines = deque(maxlen=0)
        self._file.close()

    def _says(self, number: int, kind: str, values: str) -> None:
        self._lines.append(f'{self._meta}{number},"name":"{kind}","args":{{{values}}}}}')
