"""Result folder of a run: the files that ``--output`` writes, and the status record ``metadata.json``."""

from __future__ import annotations

import io
import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim.common.errors import InputError, describe_error
from psm_sim.common.output_files import atomic_write_text, replace_files
from psm_sim.common.progress import Progress
from psm_sim.common.provenance import collect_provenance
from psm_sim.reporting.files import result_csv, result_json
from psm_sim.reporting.files.result_json import to_text
from psm_sim.reporting.terminal.progress import progress

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison

RECORD_NAME = "metadata.json"
PARTIAL_NAMES = ("result.json", "pages.csv", RECORD_NAME)
NAMES = (*PARTIAL_NAMES, "report.html")

_FIGURES = ("energy-slowdown", "energy-by-state", "slowdowns", "page-timeline", "polling-times")
_OPEN = ("running", "failed", "interrupted")
"""Status of a run that has not finished. Its record may be replaced."""


def usable_folder(folder: str | Path) -> Path:
    """Return *folder* as a path after checking that results can be written to it.

    The folder is not created yet.

    Raises
    ------
    InputError
        If *folder* is empty or not writable, or if a part of its path is a file or a broken link.
    """
    if folder == "":
        raise InputError("--output must be a folder, got ''; use '.' for the current folder.")
    folder = Path(folder)
    parent = folder.absolute()
    while not os.path.lexists(parent) and parent != parent.parent:
        parent = parent.parent
    if not parent.is_dir():
        reason = f"{str(parent)!r} is a file" if parent.exists() else f"{str(parent)!r} is a broken link"
        raise InputError(f"--output must be a folder, got {str(folder)!r}; {reason}.")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"--output must be a writable folder, got {str(folder)!r}; {str(parent)!r} is not.")
    return folder


def write_results(
    folder: Path,
    comparison: Comparison,
    facts: Mapping[str, Any],
    preset: str = "",
    workers: int | None = None,
    formats: Sequence[str] = ("svg",),
) -> None:
    """Write ``result.json``, ``pages.csv``, ``metadata.json``, ``report.html`` and the figures.

    The files are written to a temporary folder first, so an error or Ctrl-C leaves earlier files unchanged.
    The *folder* is created if it does not exist. *comparison* and *preset* are what was run, and *facts* are
    those of :func:`facts_of`. *workers* processes compute the frontier; None uses all cores.
    *formats* are those of the figures.
    """
    from psm_sim.reporting.figures.canvas import save_picture, svg_of
    from psm_sim.reporting.figures.comparison import figures_of, frontier_of
    from psm_sim.reporting.html.comparison import page_of
    from psm_sim.reporting.run_events import record_runs

    with progress("computing the frontier", "workloads") as report:
        frontier = frontier_of(comparison, workers, report)
    with replace_files(folder) as draft:
        with progress("drawing"):
            figures = figures_of(comparison, frontier, preset, record_runs(comparison))
            pictures = {name: svg_of(figure) for name, figure in figures.items()}
            (draft / "figures").mkdir()
            for name, figure in figures.items():
                for suffix in formats:
                    path = draft / "figures" / f"{name}.{suffix}"
                    if suffix == "svg":
                        path.write_text(pictures[name], encoding="utf-8", newline="\n")
                    else:
                        save_picture(figure, path)
        with progress("writing"):
            page = page_of(comparison, facts, pictures, preset)
            data = _data_texts(comparison, preset, _metadata(comparison, facts))
            _write_texts(draft, {**data, "report.html": page})


def write_partial_results(
    folder: Path, comparison: Comparison, facts: Mapping[str, Any], preset: str, error: BaseException
) -> None:
    """Write the finished part of a run that *error* has ended: ``result.json``, ``pages.csv`` and the record.

    *folder*, *comparison*, *facts* and *preset* as for :func:`write_results`. The earlier results of a folder
    are kept, so nothing is written then.

    Raises
    ------
    InputError
        If the folder has earlier results, or cannot be written.
    """
    if (folder / NAMES[0]).exists():
        raise InputError(f"{folder} keeps its earlier results; a partial result does not replace them.")
    ending = {"error": describe_error(error), "status": _status_after(error)}
    record = {**_metadata(comparison, facts), "missing": dict(comparison.missing), **ending}
    del record["finished"]
    with replace_files(folder) as draft:
        _write_texts(draft, _data_texts(comparison, preset, record))


def _data_texts(comparison: Comparison, preset: str, record: Mapping[str, Any]) -> dict[str, str]:
    """Return the contents of the files without figures, by their names."""
    pages = io.StringIO()
    result_csv.write_pages(comparison, pages)
    texts = (to_text(result_json.to_dict(comparison, preset)), pages.getvalue(), to_text(record))
    return dict(zip(PARTIAL_NAMES, texts, strict=True))


def _write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        # Escape arguments that are not UTF-8, so that they do not make a completed run fail here.
        (folder / name).write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


def _status_after(error: BaseException) -> str:
    return "failed" if isinstance(error, Exception) else "interrupted"


def _metadata(comparison: Comparison, facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **facts,
        "trace": comparison.scenario.trace_name,
        "topology": comparison.scenario.topology_name,
        "pages": comparison.pages,
        "seed": comparison.scenario.seed,
        "settings": comparison.scenario.settings,
        "runs": [
            {**run.identity, "parameters": run.parameters, "wall_s": run["wall_s"]} for run in comparison.runs
        ],
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "status": "finished",
    }


def output_paths(folder: Path, formats: Sequence[str] = ("svg",)) -> list[Path]:
    """Return the files that a run may write to *folder*, without the record of an unfinished run."""
    names = [name for name in NAMES if name != RECORD_NAME or _read_record(folder).get("status") not in _OPEN]
    figures = [f"figures/{figure}.{suffix}" for figure in _FIGURES for suffix in formats]
    return [folder / name for name in (*names, *figures)]


class RunRecord:
    """Status record of a run in progress, with the *facts* of :func:`facts_of`.

    The record is first written when the simulation begins, so invalid arguments leave no file behind. A
    *folder* with results of a finished run keeps its record until the results are replaced. None as *folder*
    disables the record.
    """

    def __init__(self, folder: Path | None, facts: Mapping[str, Any]) -> None:
        self._folder, self._facts = folder, dict(facts)
        self._is_written = False

    def watching(self, progress: Progress) -> Progress:
        """Return a wrapper of *progress* that writes the record on its first call."""

        def report(done: int, total: int, label: str, unit: str = "") -> None:
            if not self._is_written:
                self._is_written = True
                self.write("running")
            progress(done, total, label, unit)

        return report

    def broken_off(self, error: BaseException) -> None:
        """Record that the run failed or was interrupted, if it had started."""
        if self._is_written:
            self.write(_status_after(error), error=describe_error(error))

    def write(self, status: str, **facts: Any) -> None:
        """Write the record with a status atomically."""
        if self._folder is None or _read_record(self._folder).get("status") == "finished":
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        text = to_text({**self._facts, **facts, "status": status})
        atomic_write_text(self._folder / RECORD_NAME, text)


@contextmanager
def run_record(folder: Path | None, facts: Mapping[str, Any]) -> Iterator[RunRecord]:
    """Yield the record of a run, and record an exception that ends the block. See :class:`RunRecord`."""
    record = RunRecord(folder, facts)
    try:
        yield record
    except BaseException as error:
        record.broken_off(error)
        raise


def facts_of(argv: Sequence[str], started: datetime, files: Iterable[Path]) -> dict[str, Any]:
    """Return the provenance of a run for ``metadata.json``: versions, command, and start time.

    *argv* are the arguments of the command, which *started* at a time with a time zone. *files* are those of
    the user that it reads.
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
        record = json.loads((folder / RECORD_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
