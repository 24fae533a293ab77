"""Files that ``--output`` writes."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim.common.errors import InputError
from psm_sim.common.output_files import replace_files
from psm_sim.reporting.files import result_csv, result_json

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison

NAMES = ("result.json", "pages.csv", "metadata.json", "report.html")


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
) -> None:
    """Write ``result.json``, ``pages.csv``, ``metadata.json``, ``report.html`` and the figures.

    The files are written to a temporary folder first, so an error or Ctrl-C leaves earlier files unchanged.

    Parameters
    ----------
    folder : Path
        Result folder. It is created if it does not exist.
    comparison : Comparison
        Comparison to write.
    facts : mapping of str to values
        Provenance for ``metadata.json``, see :func:`.run_record.facts_of`.
    preset : str
        Name of the preset. An empty string means none.
    workers : int, optional
        Number of processes that compute the frontier of the offline optimum. None uses all cores.
    """
    from psm_sim.reporting.figures.run.write_figures import frontier_of, write_figures
    from psm_sim.reporting.html.comparison import page_of

    pages, frontier = io.StringIO(), frontier_of(comparison, workers)
    result_csv.write_pages(comparison, pages)
    texts = (
        result_json.to_text(result_json.to_dict(comparison, preset)),
        pages.getvalue(),
        result_json.to_text(_metadata(comparison, facts)),
        page_of(comparison, facts, frontier, preset),
    )
    with replace_files(folder) as draft:
        for name, text in zip(NAMES, texts, strict=True):
            # Escape arguments that are not UTF-8, so that they do not make a completed run fail here.
            (draft / name).write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        write_figures(draft / "figures", comparison, frontier)


def _metadata(comparison: Comparison, facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **facts,
        "trace": comparison.trace,
        "topology": comparison.topology,
        "pages": comparison.pages,
        "seed": comparison.seed,
        "settings": comparison.settings,
        "runs": [
            {"policy": run.policy, "parameters": run.parameters, "wall_s": run.wall_s}
            for run in comparison.runs
        ],
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "status": "finished",
    }
