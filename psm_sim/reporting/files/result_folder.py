"""Result folder: the files that ``--output`` writes."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim.errors import InputError
from psm_sim.files.atomic_directory import replace_directory
from psm_sim.reporting.files import result_csv, result_json

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison

NAMES = ("result.json", "pages.csv", "metadata.json", "report.html")


def usable_folder(folder: str | Path) -> Path:
    """Return *folder* if results can be written there, without making it yet.

    Raises
    ------
    InputError
        If it is an empty text; if it, or a part of its path, is a file or a broken link; or is not writable.
    """
    if folder == "":
        raise InputError("--output is ''; expected a folder, or '.' for this one.")
    folder = Path(folder)
    there = folder.absolute()
    while not os.path.lexists(there) and there != there.parent:
        there = there.parent
    if not there.is_dir():
        what = f"{str(there)!r} is a file" if there.exists() else f"{str(there)!r} is a link to nowhere"
        raise InputError(f"--output is {str(folder)!r}, but {what}; expected a folder, or one to be made.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"--output is {str(folder)!r}, but {str(there)!r} is not writable; choose another.")
    return folder


def write_results(
    folder: Path,
    comparison: Comparison,
    facts: Mapping[str, Any],
    preset: str = "",
    workers: int | None = None,
) -> None:
    """Write ``result.json``, ``pages.csv``, ``metadata.json``, ``report.html`` and the figures, all or none.

    A run that is interrupted leaves the earlier files unchanged.

    Parameters
    ----------
    folder : Path
        The folder; made if need be.
    comparison : Comparison
        The runs to write.
    facts : mapping of str to values
        What was known before the run, for ``metadata.json``: see :func:`.run_record.facts_of`.
    preset : str
        The name of the preset that was used; empty for none.
    workers : int, optional
        Processes for hindsight's frontier, one for each core if None.
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
    with replace_directory(folder) as made:
        for name, text in zip(NAMES, texts, strict=True):
            # A word of the command line that is no UTF-8 must not spoil a run that is already over.
            (made / name).write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        write_figures(made / "figures", comparison, frontier)


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
