"""Recording that a trace command is about: of a page list, a capture, or a file of requests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psm_sim.commands.trace_option_checks import check_unused
from psm_sim.component_spec import Spec
from psm_sim.parameters import build
from psm_sim.reporting.terminal.progress import progress
from psm_sim.workload.capture_workloads import capture_at, is_capture_file
from psm_sim.workload.loading import is_page_list
from psm_sim.workload.page_list import MissingValues, read_page_list
from psm_sim.workload.recorded_workloads import select_clients
from psm_sim.workload.recordings.recording import Recording, recording_of_pages


def load_recording(path: Path, spec: Spec, use: str) -> tuple[Recording, NDArray[np.intp] | None]:
    """Return the recording in a file, and the clients that are chosen of it; None: it has one.

    Parameters
    ----------
    path
        The file.
    spec
        The trace as the user wrote it, with its parameters.
    use
        ``"replay"`` or ``"sample"``: the default of a recording's ``workload``.
    """
    if is_page_list(path):
        missing = build(MissingValues, spec.values, f"page list {path.name}")
        return recording_of_pages(read_page_list(path, missing), "page list", path.name), None
    unused = {name: spec.values.get(name) for name in ("request_bytes", "server_delay_ms")}
    check_unused(unused, "that is of use only when the pages are loaded")
    with progress(f"Reading {path.name}") as told:
        if is_capture_file(path):
            return capture_at(path, spec.with_default("mode", "closed").values, told).recording, None
        chosen = select_clients(path, spec.with_default("workload", use).values, told)
        return chosen.recording, chosen.clients
