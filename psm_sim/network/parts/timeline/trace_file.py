"""Chrome trace file, written in blocks, with one process for each station.

Source: "Trace Event Format", Google. Times are whole microseconds, which take a third of the work to
format.
"""

from __future__ import annotations

from collections import deque
from json import dumps
from typing import BinaryIO

_FLUSH_LINES = 1024


class TraceFile:
    """Trace file, completed when all of its processes are closed; ``lines`` are not yet written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._begun, self._open = file, 0, 0
        self.lines: list[str] = []
        file.write(b'{"displayTimeUnit":"ms","traceEvents":[\n')

    def process(self, name: str) -> Process:
        """Return a new process. Processes are displayed in the order of creation."""
        self._begun, self._open = self._begun + 1, self._open + 1
        return Process(self, self._begun, name)

    def write(self) -> None:
        """Write all lines but the last, so that every written line is followed by a comma."""
        self._file.write((",\n".join(self.lines[:-1]) + ",\n").encode())
        del self.lines[:-1]

    def close(self) -> None:
        """Close one process. The last one completes the file."""
        self._open -= 1
        if not self._open:
            self._file.write(",\n".join(self.lines).encode())
            self.lines.clear()
            self._file.write(b"\n]}\n")


class Process:
    """Process of a trace file, which represents a station. Its tracks are threads.

    The arguments of events are JSON texts, so frequent events need no general encoder. Events that are
    added after :meth:`close` are discarded.

    Parameters
    ----------
    file
        The trace file.
    number, name
        Number among the processes, from 1, and displayed name.
    """

    def __init__(self, file: TraceFile, number: int, name: str) -> None:
        self._file = file
        self._lines: list[str] | deque[str] = file.lines
        self._slice, self._counter = (f'{{"ph":"{phase}","pid":{number},' for phase in "XC")
        self._meta = f'{{"ph":"M","pid":{number},"tid":'
        self._add_metadata(0, "process_name", f'"name":{dumps(name)}')
        self._add_metadata(0, "process_sort_index", f'"sort_index":{number}')

    def track(self, number: int, name: str) -> None:
        """Declare a track. Tracks are displayed in the order of their numbers."""
        self._add_metadata(number, "thread_name", f'"name":{dumps(name)}')
        self._add_metadata(number, "thread_sort_index", f'"sort_index":{number}')

    def slice(self, track: int, name: str, begins_s: float, ends_s: float, facts: str = "") -> None:
        """Add an event with a duration.

        Parameters
        ----------
        track
            Number of the track.
        name
            Displayed name, without characters that JSON escapes.
        begins_s, ends_s
            Start and end, in seconds.
        facts
            Further members of the JSON object ``args``.
        """
        begins_us, ends_us = int(1e6 * begins_s + 0.5), int(1e6 * ends_s + 0.5)
        self.add(
            f'{self.slice_text(track, name)}{begins_us},"dur":{ends_us - begins_us},"args":{{{facts}}}}}'
        )

    def slice_text(self, track: int, name: str) -> str:
        """Return the JSON text of a slice up to its time, for frequent slices."""
        return f'{self._slice}"tid":{track},"name":"{name}","ts":'

    def counter(self, name: str, time_s: float, values: str) -> None:
        """Add a value of a counter.

        Parameters
        ----------
        name
            Name of the counter, with its unit.
        time_s
            Time, in seconds.
        values
            Values of its series, as members of a JSON object.
        """
        self.add(f'{self.counter_text(name)}{int(1e6 * time_s + 0.5)},"args":{{{values}}}}}')

    def counter_text(self, name: str) -> str:
        """Return the JSON text of a counter value up to its time."""
        return f'{self._counter}"name":"{name}","ts":'

    def add(self, event: str) -> None:
        """Add an event, or several separated by a comma and a newline."""
        lines = self._lines
        lines.append(event)
        if len(lines) > _FLUSH_LINES:
            self._file.write()

    def close(self) -> None:
        """Discard all further events."""
        self._lines = deque(maxlen=0)
        self._file.close()

    def _add_metadata(self, number: int, kind: str, values: str) -> None:
        self._lines.append(f'{self._meta}{number},"name":"{kind}","args":{{{values}}}}}')
