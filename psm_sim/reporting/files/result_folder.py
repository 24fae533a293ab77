"""Result folder: the files that ``--output`` writes."""

from __future__ import annotations

import io
import os
import platform
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim import __version__
from psm_sim.errors import InputError
from psm_sim.files.together import swapped_folder
from psm_sim.reporting.files import result_csv, result_json

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison

NAMES = ("result.json", "pages.csv", "metadata.json")


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
    folder: Path, comparison: Comparison, words: Sequence[str], begun: datetime, preset: str = ""
) -> None:
    """Write ``result.json``, ``pages.csv`` and ``metadata.json``, all three or none.

    A run that is interrupted leaves the earlier files unchanged.

    Parameters
    ----------
    folder : Path
        The folder; made if need be.
    comparison : Comparison
        The runs to write.
    words : sequence of str
        The words of the command line, for ``metadata.json``.
    begun : datetime
        The time at which the command began, with its time zone.
    preset : str
        The name of the preset that was used; empty for none.
    """
    pages = io.StringIO()
    result_csv.write_pages(comparison, pages)
    texts = (
        result_json.to_text(result_json.to_dict(comparison, preset)),
        pages.getvalue(),
        result_json.to_text(_metadata(comparison, words, begun)),
    )
    with swapped_folder(folder) as made:
        for name, text in zip(NAMES, texts, strict=True):
            # A word of the command line that is no UTF-8 must not spoil a run that is already over.
            (made / name).write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


def _metadata(comparison: Comparison, words: Sequence[str], begun: datetime) -> dict[str, Any]:
    return {
        "psm_sim": __version__,
        "python": platform.python_version(),
        "packages": {name: version(name) for name in ("numpy", "simpy")},
        "command": shlex.join(["python", "-m", "psm_sim", *words]),
        "arguments": list(words),
        "trace": comparison.trace,
        "topology": comparison.topology,
        "pages": comparison.pages,
        "seed": comparison.seed,
        "settings": comparison.settings,
        "runs": [
            {"policy": run.policy, "parameters": run.parameters, "wall_s": run.wall_s}
            for run in comparison.runs
        ],
        "started": begun.isoformat(timespec="seconds"),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "status": "finished",
    }
