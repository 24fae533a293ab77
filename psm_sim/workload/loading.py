"""Loading of workloads by trace name or file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim.common.component_spec import Spec, path_exists
from psm_sim.common.errors import InputError
from psm_sim.common.input_files import bundled_dir, bundled_names, read_toml
from psm_sim.common.input_limits import MAX_PAGES
from psm_sim.common.parameters import build, values_of
from psm_sim.common.plugins import distribution_of, installed_entry_points, load_entry_point
from psm_sim.common.registry import unknown_name_error
from psm_sim.common.user_code_guards import user_code_call
from psm_sim.workload.page_list import MissingValues, current_error, read_page_list
from psm_sim.workload.page_sampler import PageSampling, sample_pages
from psm_sim.workload.trace_profile import profile_of
from psm_sim.workload.workload import Workload, describe_page_count

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP = "psm_sim.traces"
"""Entry point group for the traces of other packages."""


def load_workload(trace: str | Spec, pages: int, seed: int) -> Workload:
    """Return the workload of a trace.

    Parameters
    ----------
    trace : str or Spec
        Bundled trace or file, optionally with parameters: ``NAME``, ``NAME:key=value,...``, ``FILE`` or
        ``FILE:key=value,...``.
    pages : int
        Number of page views, at least 1. A shorter recording returns all of its pages.
    seed : int
        Random seed, 0 or more.

    Raises
    ------
    InputError
        If the trace does not exist, if the trace or an argument is invalid, or if the trace selects several
        clients, which :func:`load_workloads` supports.
    """
    spec = Spec.of(trace, "trace")
    workloads = load_workloads(spec, pages, seed)
    if len(workloads) > 1:
        raise InputError(
            f"trace {spec.name}: a run must have one client, got {len(workloads)}; select one, e.g. "
            "clients=1 for the busiest."
        )
    return workloads[0]


def load_workloads(trace: str | Spec, pages: int, seed: int) -> tuple[Workload, ...]:
    """Return a workload for each client that *trace* selects.

    Only a replayed recording has several clients. Their workloads are independent, so simulate each client on
    its own and average the results. See :func:`load_workload` for arguments and errors.
    """
    if type(pages) is not int or pages < 1:
        raise InputError(f"pages must be an integer >= 1, got {pages!r}.")
    spec = Spec.of(trace, "trace")
    path, texts = find_trace(spec.name), spec.values
    kind = trace_format(path)
    if pages > MAX_PAGES and (kind == "profile" or texts.get("workload") == "sample"):
        raise InputError(f"pages must be at most {MAX_PAGES:,} for a synthetic trace, got {pages}.")
    if kind == "page list":
        return (_replay_page_list(path, texts, pages),)
    if kind == "profile":
        return (_workload_from_profile(path, texts, pages, seed),)
    from psm_sim.workload import capture_workloads, recorded_pages

    if kind == "capture":
        return (capture_workloads.captured_workload(path, texts, pages, seed),)
    return recorded_pages.recorded_workloads(recorded_pages.select_clients(path, texts), pages, seed)


def find_trace(name: str) -> Path:
    """Return the path of a bundled trace, of an installed trace or of the file *name*.

    Raises
    ------
    InputError
        If there is no such trace or file.
    """
    if name in bundled_names("traces"):
        return bundled_dir("traces") / f"{name}.toml"
    path = Path(name)
    if path_exists(name):
        if path.is_dir():
            raise InputError(f"Trace {name!r} is a folder; expected a file.")
        if path.suffix.lower() in (".ppk2", ".jls"):
            raise current_error(path)
        return path
    installed = installed_entry_points(ENTRY_POINT_GROUP)
    if name in installed:
        return _installed_trace(installed[name])
    if path.suffix or len(path.parts) > 1:
        raise InputError(f"Trace file not found: {name!r}; expected a path or the name of a bundled trace.")
    raise unknown_name_error("trace", name, [*bundled_names("traces"), *installed, "FILE"])


def _installed_trace(point: EntryPoint) -> Path:
    """Return the path of a trace that another package installs.

    Its entry point is a path or a function that returns a path.
    """
    path_or_function = load_entry_point(point)
    with user_code_call(
        f"trace {point.name} of {distribution_of(point)}: the path of its file cannot be read"
    ):
        path = Path(path_or_function() if callable(path_or_function) else path_or_function)
    if not path.is_file():
        raise InputError(
            f"Trace {point.name} of {distribution_of(point)} must be a trace file, got {str(path)!r}."
        )
    return path


def trace_format(path: Path) -> str:
    """Return ``"page list"`` for a .csv file, ``"profile"`` for a .toml file, else the recording's format.

    See :func:`~psm_sim.workload.recordings.recording_reader.format_of` for the formats of recordings and for
    the errors.
    """
    name = path.name.lower()
    if name.endswith((".csv", ".csv.gz")):
        return "page list"
    if name.endswith(".toml"):
        return "profile"
    from psm_sim.workload.recordings.recording_reader import format_of

    return format_of(path)


def _workload_from_profile(path: Path, texts: Mapping[str, str], pages: int, seed: int) -> Workload:
    document = read_toml(path, "trace profile")
    if "traffic" in document:
        from psm_sim.workload.traffic_file import generate_traffic, traffic_of

        return generate_traffic(traffic_of(document, path), texts, pages, seed)
    if "regimes" in document:
        from psm_sim.workload.regimes import regimes_of, sample_regimes

        return sample_regimes(regimes_of(document, path), texts, pages, seed)
    profile = profile_of(document, path)
    sampling = build(PageSampling, {**profile.defaults, **texts}, f"trace {profile.name}")
    sampled = sample_pages(profile, sampling, pages, seed)
    return Workload(profile.name, sampled, profile.synthetic, profile.remark, values_of(sampling))


def _replay_page_list(path: Path, texts: Mapping[str, str], pages: int) -> Workload:
    missing = build(MissingValues, texts, f"page list {path.name}")
    listed = read_page_list(path, missing)
    remark = f"pages replayed from {path.name}, {describe_page_count(len(listed), pages)}"
    return Workload(path.name, listed[:pages], False, remark, values_of(missing))
