"""Warm start: a learner's state in a small JSON file, so that a run begins with another's experience."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psm_sim.arrays import Floats
from psm_sim.errors import InputError
from psm_sim.learning import Learner

_FORMAT = "psm_sim lpsm state 1"


class WarmStart:
    """State file: what it held when the policy was made; the learner's state is written to it after a run.

    The file is read once: every run of one policy begins with the same experience, and policies of one
    comparison that name the same file do not see each other's. It need not exist yet.

    Raises
    ------
    InputError
        If the file cannot be read, is no such state, or could not be written after the run.
    """

    def __init__(self, file: str) -> None:
        self.path = Path(file)
        self._saved = _read(self.path) if self.path.exists() else None
        _check_writable(self.path)

    def load(self, learner: Learner, times_ms: Floats) -> None:
        """Give *learner* the state that was saved, if the file existed.

        Raises
        ------
        InputError
            If it was saved by another learner, for other polling times or other switching rates.
        """
        if self._saved is None:
            return
        if self._saved["times_ms"] != times_ms.tolist():
            raise InputError(
                f"policy lpsm: state {str(self.path)!r} was saved with other experts; expected polling times "
                f"of {times_ms[0]:g} to {times_ms[-1]:g} ms, {times_ms.size} of them, or another file."
            )
        try:
            learner.load_state(self._saved["learner"])
        except InputError as fault:
            raise InputError(
                f"policy lpsm: state {str(self.path)!r} cannot be used ({str(fault).rstrip('.')}); give the "
                "parameters it was saved with, or another file."
            ) from None

    def save(self, learner: Learner, times_ms: Floats) -> None:
        """Write the learner's state, completely or not at all."""
        document = {"format": _FORMAT, "times_ms": times_ms.tolist(), "learner": learner.state()}
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            temporary.write_text(json.dumps(document, allow_nan=False) + "\n", encoding="utf-8")
            temporary.replace(self.path)
        except OSError as error:
            raise InputError(
                f"policy lpsm: state {str(self.path)!r} cannot be written: {error.strerror}; "
                "give another file."
            ) from error
        finally:
            temporary.unlink(missing_ok=True)


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"policy lpsm: state {str(path)!r} cannot be read: {error.strerror}; give another file."
        ) from error
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or document.get("format") != _FORMAT or not _complete(document):
        raise InputError(
            f"policy lpsm: state {str(path)!r} is no saved state; expected a file that a run with state=FILE "
            "wrote, or one that does not exist yet."
        )
    return document


def _complete(document: Mapping[str, Any]) -> bool:
    return isinstance(document.get("times_ms"), list) and isinstance(document.get("learner"), dict)


def _check_writable(path: Path) -> None:
    folder = path.parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        what = (
            "is a folder" if path.is_dir() else f"cannot be written: {str(folder)!r} is no folder to write in"
        )
        raise InputError(f"policy lpsm: state {str(path)!r} {what}; expected a file in a folder that exists.")
