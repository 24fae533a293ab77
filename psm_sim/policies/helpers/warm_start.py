"""JSON file with a learner's state, from which another run can continue."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.input_files import read_text
from psm_sim.common.output_files import atomic_write_text, check_writable
from psm_sim.learning import Learner

_OWNER = "policy lpsm: state"
_MAX_BYTES = 64 << 20
_FORMAT = "psm_sim lpsm state 1"


class WarmStart:
    """State file of a learner.

    The file is read once, when the policy is created. All runs of a policy therefore start from the same
    state, and policies of one comparison that share a file do not affect each other. The learner's state is
    written after a run. The file need not exist yet.

    Parameters
    ----------
    file : str
        Path of the file.

    Raises
    ------
    InputError
        If the file cannot be read or written, or is not a saved state.
    """

    def __init__(self, file: str) -> None:
        if not file.strip():
            raise InputError(f"{_OWNER} must be a file path, got {file!r}.")
        self.path = Path(file)
        self._saved = _read(self.path) if self.path.exists() else None
        check_writable(self.path, _OWNER)

    def load(self, learner: Learner, times_ms: FloatArray) -> None:
        """Load the saved state into *learner*, if the file existed.

        Parameters
        ----------
        learner : Learner
            New learner.
        times_ms : ndarray, shape (n,)
            Polling times of its experts, in ms.

        Raises
        ------
        InputError
            If the state has another learner, other polling times or other switching rates.
        """
        if self._saved is None:
            return
        if self._saved["times_ms"] != times_ms.tolist():
            raise InputError(
                f"policy lpsm: state {str(self.path)!r} was saved with other experts; expected "
                f"{times_ms.size} polling times from {times_ms[0]:g} to {times_ms[-1]:g} ms."
            )
        try:
            learner.load_state(self._saved["learner"])
        except InputError as error:
            raise InputError(
                f"policy lpsm: state {str(self.path)!r} cannot be used ({str(error).rstrip('.')}); use the "
                "parameters with which it was saved, or another file."
            ) from None

    def save(self, learner: Learner, times_ms: FloatArray) -> None:
        """Write the state of *learner* and its polling times *times_ms* atomically."""
        document = {"format": _FORMAT, "times_ms": times_ms.tolist(), "learner": learner.state()}
        atomic_write_text(self.path, json.dumps(document, allow_nan=False) + "\n", _OWNER)


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(read_text(path, _MAX_BYTES))
    except OSError as error:
        raise InputError(
            f"policy lpsm: state {str(path)!r} cannot be read: {error.strerror}; use another file."
        ) from error
    except InputError as error:
        raise InputError(f"{_OWNER} {str(path)!r} cannot be read: {error}") from None
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or document.get("format") != _FORMAT or not _is_complete(document):
        raise InputError(
            f"policy lpsm: state {str(path)!r} is not a saved state; expected a file written by a run with "
            "state=FILE, or a new path."
        )
    return document


def _is_complete(document: Mapping[str, Any]) -> bool:
    return isinstance(document.get("times_ms"), list) and isinstance(document.get("learner"), dict)
