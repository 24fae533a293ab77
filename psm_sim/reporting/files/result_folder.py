"""Result folder of a run: the files that ``--output`` writes."""

from __future__ import annotations

import io
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim.common.errors import InputError, describe_error
from psm_sim.common.output_files import replace_files
from psm_sim.common.provenance import collect_provenance
from psm_sim.reporting.files import result_csv, result_json
from psm_sim.reporting.files.result_json import to_text
from psm_sim.reporting.terminal.progress import progress

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison

PARTIAL_NAMES = ("result.json", "pages.csv", "metadata.json")
FILE_NAMES = (*PARTIAL_NAMES, "report.html")

_FIGURES = ("energy-slowdown", "energy-by-state", "slowdowns", "page-timeline", "polling-times")


def usable_folder(folder: str | Path, option: str = "--output") -> Path:
    """Return *folder* as a path after checking that results can be written to it.

    The folder is not created yet. *option* is the command-line option that error messages name.

    Raises
    ------
    InputError
        If *folder* is not writable, or if a part of its path is a file or a broken link.
    """
    folder = Path(folder)
    parent = folder.absolute()
    while not os.path.lexists(parent) and parent != parent.parent:
        parent = parent.parent
    if not parent.is_dir():
        reason = f"{str(parent)!r} is a file" if parent.exists() else f"{str(parent)!r} is a broken link"
        raise InputError(f"{option} must be a folder, got {str(folder)!r}; {reason}.")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"{option} must be a writable folder, got {str(folder)!r}; {str(parent)!r} is not.")
    return folder


def write_results(
    folder: Path,
    comparison: Comparison,
    facts: Mapping[str, Any],
    workers: int | None = None,
    formats: Sequence[str] = ("svg",),
) -> None:
    """Write ``result.json``, ``pages.csv``, ``metadata.json``, ``report.html`` and the figures.

    The files are written to a temporary folder first, so an error or Ctrl-C leaves earlier files unchanged.
    The *folder* is created if it does not exist. *facts* are from :func:`provenance_of`. *workers* processes
    compute the frontier; None uses all cores. *formats* are the file formats of the figures.
    """
    from psm_sim.reporting.figures.canvas import save_picture, svg_of
    from psm_sim.reporting.figures.comparison import figures_of, frontier_of
    from psm_sim.reporting.html.comparison import html_of

    with progress("computing the frontier", "workloads") as report:
        frontier = frontier_of(comparison, workers, report)
    with replace_files(folder) as draft:
        with progress("drawing"):
            figures = figures_of(comparison, frontier)
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
            page = html_of(comparison, facts, pictures)
            data = _data_texts(comparison, _metadata(comparison, facts))
            _write_texts(draft, {**data, "report.html": page})


def write_partial_results(
    folder: Path, comparison: Comparison, facts: Mapping[str, Any], error: BaseException
) -> None:
    """Write ``result.json``, ``pages.csv`` and ``metadata.json`` of a run that *error* has ended.

    See :func:`write_results` for *folder*, *comparison* and *facts*. Results of an earlier run in the folder
    are not replaced.

    Raises
    ------
    InputError
        If the folder has earlier results, or cannot be written.
    """
    if (folder / FILE_NAMES[0]).exists():
        raise InputError(f"{folder} keeps its earlier results; a partial result does not replace them.")
    status = "failed" if isinstance(error, Exception) else "interrupted"
    ending = {"error": describe_error(error), "status": status}
    record = {**_metadata(comparison, facts), "missing": dict(comparison.missing), **ending}
    del record["finished"]
    with replace_files(folder) as draft:
        _write_texts(draft, _data_texts(comparison, record))


def _data_texts(comparison: Comparison, record: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of ``result.json``, ``pages.csv`` and ``metadata.json``, by file name."""
    pages = io.StringIO()
    result_csv.write_pages(comparison, pages)
    texts = (to_text(result_json.to_dict(comparison)), pages.getvalue(), to_text(record))
    return dict(zip(PARTIAL_NAMES, texts, strict=True))


def _write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        # Escape arguments that are not UTF-8, so that they do not make a completed run fail here.
        (folder / name).write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


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
    """Return the files that a run may write to *folder*."""
    figures = [f"figures/{figure}.{suffix}" for figure in _FIGURES for suffix in formats]
    return [folder / name for name in (*FILE_NAMES, *figures)]


def provenance_of(argv: Sequence[str], started: datetime, files: Iterable[Path]) -> dict[str, Any]:
    """Return the provenance of a run for ``metadata.json``: versions, command, and start time.

    *argv* are the arguments of the command. *started* is the start time, with a time zone. *files* are the
    user's files that the command reads.
    """
    return {
        **collect_provenance(files),
        "command": shlex.join(["python", "-m", "psm_sim", *argv]),
        "arguments": list(argv),
        "started": started.astimezone(UTC).isoformat(timespec="seconds"),
    }
