"""Result folder: the files that ``--output`` writes."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim.errors import InputError
from psm_sim.reporting.files import result_csv, result_json

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison

NAMES = ("result.json", "pages.csv", "metadata.json")


def usable_folder(folder: Path) -> Path:
    """Return *folder* if results can be written there, without making it yet.

    Raises
    ------
    InputError
        If it, or a part of its path, is a file or a broken link, or is not writable.
    """
    there = folder.absolute()
    while not os.path.lexists(there) and there != there.parent:
        there = there.parent
    if not there.is_dir():
        what = f"{str(there)!r} is a file" if there.exists() else f"{str(there)!r} is a link to nowhere"
        raise InputError(f"--output is {str(folder)!r}, but {what}; expected a folder, or one to be made.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"--output is {str(folder)!r}, but {str(there)!r} is not writable; choose another.")
    return folder


def write_results(folder: Path, comparison: Comparison, facts: Mapping[str, Any], preset: str = "") -> None:
    """Write ``result.json``, ``pages.csv`` and ``metadata.json``, each complete or not at all.

    All three are written under other names first and then renamed, so that a run that is interrupted
    leaves the earlier files unchanged.

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
    """
    pages = io.StringIO()
    result_csv.write_pages(comparison, pages)
    texts = (
        result_json.to_text(result_json.to_dict(comparison, preset)),
        pages.getvalue(),
        result_json.to_text(_metadata(comparison, facts)),
    )
    folder.mkdir(parents=True, exist_ok=True)
    # In the folder itself: renaming replaces a file at once only within one file system.
    temporary = [folder / f".{name}.{os.getpid()}" for name in NAMES]
    try:
        for path, text in zip(temporary, texts, strict=True):
            # A word of the command line that is no UTF-8 must not spoil a run that is already over.
            path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        for path, name in zip(temporary, NAMES, strict=True):
            path.replace(folder / name)
    finally:
        for path in temporary:
            path.unlink(missing_ok=True)


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
