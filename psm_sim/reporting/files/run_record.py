"""Record of a run in its folder: ``metadata.json`` says whether it runs, has finished, or was broken off."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from psm_sim.errors import InputError, describe_error
from psm_sim.files.atomic_file import atomic_write_text
from psm_sim.progress import Progress
from psm_sim.provenance import collect_provenance
from psm_sim.reporting.files.result_json import to_text

NAME = "metadata.json"


def check_free(folder: Path, *, force: bool) -> None:
    """Refuse a folder that holds the results of a finished run, unless they are to be replaced.

    Raises
    ------
    InputError
        If it does, and *force* is false.
    """
    found = _found(folder)
    if found.get("status") == "finished" and not force:
        raise InputError(
            f"--output is {str(folder)!r}, which holds the results of a finished run "
            f"({found.get('command', 'unknown')}); choose another folder, or add --force to replace them."
        )


class RunRecord:
    """Record of a run that may yet be broken off.

    It is written when the first page is done, so that what the user mistyped leaves nothing behind; and
    not into a folder with results, which stay whole until they are replaced.

    Parameters
    ----------
    folder
        Where; None: nowhere.
    facts
        What is known before the run.
    """

    def __init__(self, folder: Path | None, facts: Mapping[str, Any]) -> None:
        self._folder, self._facts = folder, dict(facts)
        self._is_written = False

    def watching(self, progress: Progress) -> Progress:
        """Return *progress*, which writes the record when it is first called."""

        def told(done: int, total: int, label: str) -> None:
            if not self._is_written:
                self._is_written = True
                self.write("running")
            progress(done, total, label)

        return told

    def broken_off(self, error: BaseException) -> None:
        """Note that the run ended without results, if it has begun."""
        if self._is_written:
            self.write(
                "failed" if isinstance(error, Exception) else "interrupted", error=describe_error(error)
            )

    def write(self, status: str, **facts: Any) -> None:
        """Write the record with a status, whole or not at all."""
        if self._folder is None or _found(self._folder).get("status") == "finished":
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        text = to_text({**self._facts, **facts, "status": status})
        atomic_write_text(self._folder / NAME, text)


@contextmanager
def run_record(folder: Path | None, facts: Mapping[str, Any]) -> Iterator[RunRecord]:
    """Give the record of a run, which is told if the run is broken off.

    Parameters
    ----------
    folder : Path or None
        The folder of the results; None: there is none.
    facts : mapping of str to values
        What is known before the run.
    """
    record = RunRecord(folder, facts)
    try:
        yield record
    except BaseException as error:
        record.broken_off(error)
        raise


def facts_of(words: Sequence[str], begun: datetime, files: Iterable[Path]) -> dict[str, Any]:
    """Return what is known of a run before it begins.

    Parameters
    ----------
    words : sequence of str
        The words of the command line.
    begun : datetime
        The time at which the command began, with its time zone.
    files : iterable of Path
        The user's files that the run reads.
    """
    return {
        **collect_provenance(files),
        "command": shlex.join(["python", "-m", "psm_sim", *words]),
        "arguments": list(words),
        "started": begun.astimezone(UTC).isoformat(timespec="seconds"),
    }


def _found(folder: Path) -> dict[str, Any]:
    """Return the record in a folder; empty if there is none that can be read."""
    try:
        found = json.loads((folder / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
