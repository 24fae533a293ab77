"""Loading of network activity by trace name or file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from psm_lab.replay.network_activity import (
    Activity,
    NominalTransfers,
    Transfer,
    transfers_of,
    transfers_of_messages,
)
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import parameters_of, values_of
from psm_sim.workload import Workload
from psm_sim.workload.capture_workloads import no_pages_error
from psm_sim.workload.loading import find_trace, load_workloads, trace_format
from psm_sim.workload.recorded_pages import Playback, select_clients
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.har import log_entries, read_log
from psm_sim.workload.recordings.page_grouping import Rows
from psm_sim.workload.recordings.ucb import read_requests


def load_activities(
    trace: str | Spec, pages: int, seed: int, nominal: NominalTransfers
) -> tuple[Activity, ...]:
    """Return the network activity of each client that *trace* selects.

    Recorded requests keep their start and end times. The pages of other traces get *nominal* transfer
    times.

    Parameters
    ----------
    trace
        See :func:`~psm_sim.workload.loading.load_workload`.
    pages, seed
        Number of pages, at least 1, and random seed. A recording uses neither.
    nominal
        Model of the transfer times of pages.

    Raises
    ------
    InputError
        If the trace does not exist, or if the trace or an argument is invalid.
    """
    spec = Spec.of(trace, "trace")
    path = find_trace(spec.name)
    if trace_format(path) == "capture":
        raise no_pages_error(path)
    if is_recording(spec):
        return _recording_activities(path, spec.values)
    return tuple(_page_activity(workload, nominal) for workload in load_workloads(spec, pages, seed))


def is_recording(spec: Spec) -> bool:
    """Return whether a trace is a recording whose requests are replayed one by one."""
    kind = trace_format(find_trace(spec.name))
    return kind not in ("page list", "profile") and spec.values.get("workload", "replay") == "replay"


def _page_activity(workload: Workload, nominal: NominalTransfers) -> Activity:
    if workload.has_pages:
        transfers = tuple(transfers_of(workload.pages, nominal))
        omitted = "; background messages are not replayed" if workload.messages else ""
    else:
        transfers, omitted = tuple(transfers_of_messages(workload.messages, nominal)), ""
    if not transfers:
        raise InputError(f"trace {workload.name} sends nothing to the station; use another trace.")
    assumptions = f"{nominal.rate_kbps:g} kbit/s, {nominal.round_trip_ms:g} ms round trip"
    return Activity(
        workload.name,
        transfers,
        workload.synthetic,
        f"{workload.remark.rstrip('.')}; transfer times are nominal ({assumptions}){omitted}",
        workload.parameters | values_of(nominal),
    )


def _recording_activities(path: Path, texts: Mapping[str, str]) -> tuple[Activity, ...]:
    """Return the activity of the selected clients of a recording.

    The file is read twice. The first pass selects the clients, the second one reads their transfers.
    """
    for name in parameters_of(Playback):
        if name in texts:
            raise InputError(
                f"trace {path.name}: {name}={texts[name]!r} has no effect, because requests are replayed as "
                "recorded; remove it."
            )
    selection = select_clients(path, texts)
    recording = selection.recording
    names = [recording.clients[client] for client in selection.clients]
    parameters = {
        key: value for key, value in selection.parameters.items() if key not in parameters_of(Playback)
    }
    activities = []
    for client, transfers in zip(names, _read_transfers(path, names), strict=True):
        origin = f"client {client} of {len(recording.clients):,} in {path.name} ({recording.format})"
        remark = "; ".join((f"{origin}, {len(transfers):,} requests as recorded", *recording.warnings))
        activities.append(Activity(client, transfers, False, remark, parameters))
    return tuple(activities)


def _read_transfers(path: Path, clients: Sequence[str]) -> list[list[Transfer]]:
    """Return the transfers of each of *clients*, in the order sent.

    The file must contain all clients. A transfer lasts from the request to the last byte of its response.

    Raises
    ------
    InputError
        If the file cannot be read or parsed.
    """
    kind = trace_format(path)
    if kind == "har":
        return [_har_transfers(path)]
    requests = read_requests(ChunkReader(path), is_text=kind == "showtrace")
    rows = requests.rows
    return [_row_transfers(rows[rows["client"] == requests.clients.index(client)]) for client in clients]


def _row_transfers(rows: Rows) -> list[Transfer]:
    start_us = rows["at_us"]
    columns = (start_us, start_us + rows["took_us"], rows["size"])
    return [Transfer(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _har_transfers(path: Path) -> list[Transfer]:
    entries = log_entries(read_log(ChunkReader(path)), path)
    transfers = []
    for entry in sorted((e for e in entries if not e.omitted), key=lambda entry: entry.start_s):
        start_us = round(entry.start_s * 1e6)
        # Separate rounding of start and end could put the end one microsecond before the start.
        transfers.append(Transfer(start_us, max(round(entry.end_s * 1e6), start_us), entry.size))
    return transfers
