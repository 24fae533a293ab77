"""Status record of a run, ``metadata.json`` in the result folder."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from psm_sim.common.errors import InputError, describe_error
from psm_sim.common.output_files import atomic_write_text
from psm_sim.common.progress import Progress
from psm_sim.common.provenance import collect_provenance
from psm_sim.reporting.files.result_json import to_text

NAME = "metadata.json"


def check_free(folder: Path, *, force: bool) -> None:
    """Check that *folder* contains no results of a finished run.

    Raises
    ------
    InputError
        If it contains such results and *force* is false.
    """
    record = _read_record(folder)
    if record.get("status") == "finished" and not force:
        raise InputError(
            f"--output {str(folder)!r} contains the results of a finished run "
            f"({record.get('command', 'unknown')}); choose another folder, or add --force to replace them."
        )


class RunRecord:
    """Status record of a run in progress.

    The record is first written when a page is done, so invalid arguments leave no file behind. A folder with
    results of a finished run keeps its record until the results are replaced.

    Parameters
    ----------
    folder : Path or None
        Result folder. None disables the record.
    facts : mapping of str to values
        Provenance of the run, see :func:`facts_of`.
    """

    def __init__(self, folder: Path | None, facts: Mapping[str, Any]) -> None:
        self._folder, self._facts = folder, dict(facts)
        self._is_written = False

    def watching(self, progress: Progress) -> Progress:
        """Return a wrapper of *progress* that writes the record on its first call."""

        def report(done: int, total: int, label: str) -> None:
            if not self._is_written:
                self._is_written = True
                self.write("running")
            progress(done, total, label)

        return report

    def broken_off(self, error: BaseException) -> None:
        """Record that the run failed or was interrupted, if it had started."""
        if self._is_written:
            self.write(
                "failed" if isinstance(error, Exception) else "interrupted", error=describe_error(error)
            )

    def write(self, status: str, **facts: Any) -> None:
        """Write the record with a status atomically."""
        if self._folder is None or _read_record(self._folder).get("status") == "finished":
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        text = to_text({**self._facts, **facts, "status": status})
        atomic_write_text(self._folder / NAME, text)


@contextmanager
def run_record(folder: Path | None, facts: Mapping[str, Any]) -> Iterator[RunRecord]:
    """Yield the record of a run, and record an exception that ends the block.

    Parameters
    ----------
    folder : Path or None
        Result folder. None disables the record.
    facts : mapping of str to values
        Provenance of the run, see :func:`facts_of`.
    """
    record = RunRecord(folder, facts)
    try:
        yield record
    except BaseException as error:
        record.broken_off(error)
        raise


def facts_of(argv: Sequence[str], started: datetime, files: Iterable[Path]) -> dict[str, Any]:
    """Return the provenance of a run for ``metadata.json``: versions, files, command and start time.

    Parameters
    ----------
    argv : sequence of str
        Command-line arguments.
    started : datetime
        Start time of the command, with its time zone.
    files : iterable of Path
        User files that the run reads.
    """
    return {
        **collect_provenance(files),
        "command": shlex.join(["python", "-m", "psm_sim", *argv]),
        "arguments": list(argv),
        "started": started.astimezone(UTC).isoformat(timespec="seconds"),
    }


def _read_record(folder: Path) -> dict[str, Any]:
    """Return the record in a folder, or an empty dictionary if it cannot be read."""
    try:
        record = json.loads((folder / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
