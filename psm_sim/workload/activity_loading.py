"""Network activity by name or file: transfers with start, end and bytes, one set for each client."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from psm_sim.component_spec import Spec
from psm_sim.errors import InputError
from psm_sim.parameters import parameters_of, values_of
from psm_sim.workload.capture_workloads import activity_of, capture_at, is_capture_file
from psm_sim.workload.loading import find_trace, is_page_list, is_profile, load_workloads
from psm_sim.workload.modem_transfer_times import NominalTransfers, transfers_of
from psm_sim.workload.network_activity import Activity
from psm_sim.workload.workload import Workload


def load_activities(
    trace: str | Spec, pages: int, seed: int, nominal: NominalTransfers, clients: str | None = None
) -> tuple[Activity, ...]:
    """Return the network activity of each client that *trace* chooses.

    A recording is taken as it was, every request of the client from its start to its last byte. Other
    traces are pages with *nominal* transfer times.

    Parameters
    ----------
    trace
        As for :func:`~psm_sim.workload.loading.load_workload`.
    pages, seed
        The number of pages, at least 1, and the seed of what is drawn, of a trace that is no recording.
    nominal
        How long the transfers of pages take.
    clients
        The recording's parameter of that name; ``None`` leaves what *trace* says.

    Raises
    ------
    InputError
        If there is no such trace, or it, a parameter or a number is unusable.
    """
    spec = Spec.of(trace, "trace")
    path = find_trace(spec.name)
    if not (is_page_list(path) or is_profile(path)):
        if is_capture_file(path):
            return (_captured(path, spec, clients),)
        spec = _with_clients(spec, clients)
        if spec.values.get("workload", "replay") == "replay":
            return _recorded(path, spec.values)
    elif clients is not None:
        raise InputError(
            f"clients is {clients!r}, but trace {spec.name} is one client's; expected a recording."
        )
    return tuple(_of_pages(each, nominal) for each in load_workloads(spec, pages, seed))


def _captured(path: Path, spec: Spec, clients: str | None) -> Activity:
    if clients is not None:
        raise InputError(f"clients is {clients!r}, but {path.name} is a capture; expected client=ADDRESS.")
    return activity_of(capture_at(path, spec.values))


def _with_clients(spec: Spec, clients: str | None) -> Spec:
    if clients is None:
        return spec
    if "clients" in spec.values:
        given = f"{clients!r} and {spec.values['clients']!r}"
        raise InputError(f"trace {spec.name}: clients is given twice, as {given}; give it once.")
    return spec.with_("clients", clients)


def _of_pages(workload: Workload, nominal: NominalTransfers) -> Activity:
    words = f"{nominal.rate_kbps:g} kbit/s, {nominal.round_trip_ms:g} ms round trip"
    return Activity(
        workload.name,
        tuple(transfers_of(workload.pages, nominal)),
        workload.synthetic,
        f"{workload.remark.rstrip('.')}; transfer times are nominal: {words}",
        workload.parameters | values_of(nominal),
    )


def _recorded(path: Path, texts: Mapping[str, str]) -> tuple[Activity, ...]:
    """Read the file twice: for the choice of clients, and for what they fetched."""
    from psm_sim.workload.recorded_pages import Playback
    from psm_sim.workload.recorded_workloads import select_clients
    from psm_sim.workload.recordings.recorded_transfers import read_transfers

    for word in parameters_of(Playback):
        if word in texts:
            raise InputError(
                f"trace {path.name}: {word} is {texts[word]!r}, but requests are replayed as they were "
                "recorded; leave it out."
            )
    chosen = select_clients(path, texts)
    recording = chosen.recording
    names = [recording.clients[client] for client in chosen.clients]
    parameters = {
        key: value for key, value in chosen.parameters.items() if key not in parameters_of(Playback)
    }
    found = []
    for client, transfers in zip(names, read_transfers(path, names), strict=True):
        told = f"client {client} of {len(recording.clients):,} in {path.name} ({recording.format})"
        remark = "; ".join((f"{told}, {len(transfers):,} requests as recorded", *recording.warnings))
        found.append(Activity(client, transfers, False, remark, parameters))
    return tuple(found)
