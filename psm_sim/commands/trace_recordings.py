"""Loader of the recording of a trace command: a page list, a capture or a request log."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psm_sim.commands.trace_option_checks import check_unused
from psm_sim.common.component_spec import Spec
from psm_sim.common.parameters import build
from psm_sim.reporting.terminal.progress import progress
from psm_sim.workload.capture_workloads import capture_at, is_capture_file
from psm_sim.workload.loading import is_page_list
from psm_sim.workload.page_list import MissingValues, read_page_list
from psm_sim.workload.recordings.recording import Recording, recording_of_pages
from psm_sim.workload.workloads_from_recordings import select_clients


def load_recording(path: Path, spec: Spec, use: str) -> tuple[Recording, NDArray[np.intp] | None]:
    """Return a recording and the indices of the selected clients.

    The indices are None if the file has a single client.

    Parameters
    ----------
    path : Path
        File of the trace.
    spec : Spec
        Spec of the trace, with its parameters.
    use : str
        Default of the parameter ``workload``: ``"replay"`` or ``"sample"``.
    """
    if is_page_list(path):
        missing = build(MissingValues, spec.values, f"page list {path.name}")
        return recording_of_pages(read_page_list(path, missing), "page list", path.name), None
    unused = {name: spec.values.get(name) for name in ("request_bytes", "server_delay_ms")}
    check_unused(unused, "it only applies when pages are simulated")
    with progress(f"Reading {path.name}") as callback:
        if is_capture_file(path):
            return capture_at(path, spec.with_default("mode", "closed").values, callback).recording, None
        selection = select_clients(path, spec.with_default("workload", use).values, callback)
        return selection.recording, selection.clients
