"""Warm start: a learner's state in a small JSON file, so that a run begins with another's experience."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError
from psm_sim.files.atomic_file import atomic_write_text, check_writable
from psm_sim.files.reopenable_input import read_text
from psm_sim.learning import Learner

_OWNER = "policy lpsm: state"
_MAX_BYTES = 64 << 20
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
        if not file.strip():
            raise InputError(f"{_OWNER} is {file!r}; expected the path of a file.")
        self.path = Path(file)
        self._saved = _read(self.path) if self.path.exists() else None
        check_writable(self.path, _OWNER)

    def load(self, learner: Learner, times_ms: FloatArray) -> None:
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

    def save(self, learner: Learner, times_ms: FloatArray) -> None:
        """Write the learner's state, completely or not at all."""
        document = {"format": _FORMAT, "times_ms": times_ms.tolist(), "learner": learner.state()}
        atomic_write_text(self.path, json.dumps(document, allow_nan=False) + "\n", _OWNER)


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(read_text(path, _MAX_BYTES))
    except OSError as error:
        raise InputError(
            f"policy lpsm: state {str(path)!r} cannot be read: {error.strerror}; give another file."
        ) from error
    except InputError as error:
        raise InputError(f"{_OWNER} {str(path)!r} cannot be read: {error}") from None
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
