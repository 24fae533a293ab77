"""Workloads by name or file: what a trace's spec names, found, read and drawn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim.bundled_files import bundled_dir, bundled_names
from psm_sim.component_spec import Spec, path_exists
from psm_sim.errors import InputError
from psm_sim.files.toml import read_toml
from psm_sim.limits import MAX_PAGES
from psm_sim.parameters import build, values_of
from psm_sim.plugins import distribution_of, installed_entry_points, load_entry_point
from psm_sim.registry import unknown_name_error
from psm_sim.user_code import calling
from psm_sim.workload.page_list import MissingValues, read_page_list
from psm_sim.workload.page_sampling import PageSampling
from psm_sim.workload.page_synthesis import draw_pages
from psm_sim.workload.trace_profile import profile_of
from psm_sim.workload.workload import Workload, how_many

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "psm_sim.traces"
"""The entry point group under which other packages offer traces."""


def load_workload(trace: str | Spec, pages: int, seed: int, replication: int = 0) -> Workload:
    """Make the workload that *trace* names.

    Parameters
    ----------
    trace : a bundled trace or a file, with parameters if any, as text or spec: ``NAME``,
        ``NAME:key=value,...``, ``FILE`` or ``FILE:key=value,...``.
    pages : number of page views, at least 1; a recording gives its first *pages*, or all it has.
    seed : the seed of what is drawn, 0 or more.
    replication : the number of the replication, 0 or more, for independent draws from one seed.

    Raises
    ------
    InputError
        If there is no such trace, or it, a parameter or a number is unusable; or if several clients are
        to be replayed, for which there is :func:`load_workloads`.
    """
    spec = Spec.of(trace, "trace")
    workloads = load_workloads(spec, pages, seed, replication)
    if len(workloads) > 1:
        raise InputError(
            f"trace {spec.name}: {len(workloads)} clients are chosen; expected one client for one "
            "run, such as clients=1 for the busiest."
        )
    return workloads[0]


def load_workloads(trace: str | Spec, pages: int, seed: int, replication: int = 0) -> tuple[Workload, ...]:
    """Make one workload per client that *trace* chooses; arguments and errors as for :func:`load_workload`.

    They are independent: simulate each on its own and average. Only a replayed recording has several.
    """
    if isinstance(pages, bool) or not isinstance(pages, int) or pages < 1:
        raise InputError(f"pages is {pages!r}; expected a whole number, at least 1.")
    spec = Spec.of(trace, "trace")
    path, texts = find_trace(spec.name), spec.values
    if pages > MAX_PAGES and (is_profile(path) or texts.get("workload") == "sample"):
        raise InputError(f"pages is {pages}; expected at most {MAX_PAGES:,} to be drawn.")
    if is_page_list(path):
        return (_replay_page_list(path, texts, pages),)
    if is_profile(path):
        return (_draw_from_profile(path, texts, pages, seed, replication),)
    from psm_sim.workload import capture_workloads, recorded_workloads

    if capture_workloads.is_capture_file(path):
        return (
            capture_workloads.workload_of(
                capture_workloads.capture_at(path, texts), pages, seed, replication
            ),
        )
    return recorded_workloads.recorded_workloads(
        recorded_workloads.select_clients(path, texts), pages, seed, replication
    )


def find_trace(name: str) -> Path:
    """Return the file of a bundled trace or the file *name* itself."""
    if name in bundled_names("traces"):
        return bundled_dir("traces") / f"{name}.toml"
    path = Path(name)
    if not path_exists(name) and name in (offered := installed_entry_points(GROUP)):
        return _offered(offered[name])
    if path_exists(name) and path.is_dir():
        raise InputError(f"Trace {name!r} is a folder; expected a file.")
    if path_exists(name):
        return path
    if path.suffix or len(path.parts) > 1:
        raise InputError(f"There is no trace file {name!r}; expected the path of a trace, or a bundled name.")
    raise unknown_name_error(
        "trace", name, [*bundled_names("traces"), *installed_entry_points(GROUP), "FILE"]
    )


def _offered(point: EntryPoint) -> Path:
    """Return the file that a package offers: the entry point is its path, or a function that returns it."""
    found = load_entry_point(point)
    with calling(f"trace {point.name} of {distribution_of(point)} cannot be asked for its file"):
        path = Path(found() if callable(found) else found)
    if not path.is_file():
        raise InputError(
            f"Trace {point.name} of {distribution_of(point)} is {str(path)!r}; expected a trace file."
        )
    return path


def is_page_list(path: Path) -> bool:
    """Say whether a file is a page list, by its name."""
    return path.name.lower().endswith((".csv", ".csv.gz"))


def is_profile(path: Path) -> bool:
    """Say whether a file is a trace profile, by its name."""
    return path.suffix.lower() == ".toml"


def _draw_from_profile(
    path: Path, texts: Mapping[str, str], pages: int, seed: int, replication: int
) -> Workload:
    document = read_toml(path, "trace profile")
    if "pushes" in document:
        from psm_sim.workload import push_traffic

        return push_traffic.draw_pushes(document, path, texts, pages, seed, replication)
    if "traffic" in document:
        from psm_sim.workload import traffic_trace

        return traffic_trace.draw_traffic(
            traffic_trace.traffic_of(document, path), texts, pages, seed, replication
        )
    if "regimes" in document:
        from psm_sim.workload import regimes as shifting

        regimes = shifting.regimes_of(document, path)
        return shifting.draw_regimes(
            regimes, build(shifting.ShiftingProfile, texts, f"trace {regimes.name}"), pages, seed, replication
        )
    profile = profile_of(document, path)
    drawing = build(PageSampling, {**profile.defaults, **texts}, f"trace {profile.name}")
    drawn = draw_pages(profile, drawing, pages, seed, replication)
    return Workload(profile.name, drawn, profile.synthetic, profile.remark, values_of(drawing))


def _replay_page_list(path: Path, texts: Mapping[str, str], pages: int) -> Workload:
    missing = build(MissingValues, texts, f"page list {path.name}")
    found = read_page_list(path, missing)
    remark = f"pages replayed from {path.name}, {how_many(len(found), pages)}"
    return Workload(path.name, found[:pages], False, remark, values_of(missing))
