"""Workloads by name or file: what a trace's spec names, found, read and drawn."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from psm_sim.bundled import bundled, bundled_names
from psm_sim.errors import InputError
from psm_sim.parameters import build, values_of
from psm_sim.registry import split_parameters, split_spec, unknown
from psm_sim.workload.page_list import Missing, read_page_list
from psm_sim.workload.profile import profile_of, read_toml
from psm_sim.workload.synthesis import Drawing, draw_pages
from psm_sim.workload.workload import Workload, how_many

_WITH_PARAMETERS = re.compile(r"(?P<name>.*?):(?P<rest>\s*[A-Za-z_]\w*\s*=.*)", re.DOTALL)


def load_workload(spec: str, pages: int, seed: int, replication: int = 0) -> Workload:
    """Make the workload that *spec* names.

    Parameters
    ----------
    spec : a bundled trace or a file, with parameters if any: ``NAME``, ``NAME:key=value,...``,
        ``FILE`` or ``FILE:key=value,...``.
    pages : how many page views; of a recording, the first so many, and no more than it has.
    seed : the seed of what is drawn.
    replication : the number of the replication, for independent draws from one seed.

    Raises
    ------
    InputError
        If there is no such trace, or it, a parameter or a number is unusable; or if several clients are
        to be replayed, for which there is :func:`load_workloads`.
    """
    workloads = load_workloads(spec, pages, seed, replication)
    if len(workloads) > 1:
        raise InputError(
            f"trace {split_trace(spec)[0]}: {len(workloads)} clients are chosen; expected one client for one "
            "run, such as clients=1 for the busiest."
        )
    return workloads[0]


def load_workloads(spec: str, pages: int, seed: int, replication: int = 0) -> tuple[Workload, ...]:
    """Make one workload for each client that *spec* chooses; arguments and errors as :func:`load_workload`.

    They are independent: simulate each on its own and average. Only a replayed recording has several.
    """
    if isinstance(pages, bool) or not isinstance(pages, int) or pages < 1:
        raise InputError(f"pages is {pages!r}; expected a whole number, at least 1.")
    name, texts = split_trace(spec)
    path = find_trace(name)
    if is_page_list(path):
        return (_replay_page_list(path, texts, pages),)
    if is_profile(path):
        return (_draw_from_profile(path, texts, pages, seed, replication),)
    from psm_sim.workload import recorded

    return recorded.workloads(recorded.choose(path, texts), pages, seed, replication)


def split_trace(spec: str) -> tuple[str, dict[str, str]]:
    """Split a trace's specification into its name or file and the texts of its parameters."""
    with_parameters = _WITH_PARAMETERS.fullmatch(spec)
    if with_parameters:
        name = with_parameters["name"]
        return name, split_parameters(with_parameters["rest"], f"trace {name}")
    return (spec, {}) if _exists(spec) else split_spec(spec, "trace")


def find_trace(name: str) -> Path:
    """Return the file of a bundled trace or the file *name* itself."""
    if name in bundled_names("traces"):
        return bundled("traces") / f"{name}.toml"
    path = Path(name)
    if _exists(name) and path.is_dir():
        raise InputError(f"Trace {name!r} is a folder; expected a file.")
    if _exists(name):
        return path
    if path.suffix or len(path.parts) > 1:
        raise InputError(f"There is no trace file {name!r}; expected the path of a trace, or a bundled name.")
    raise unknown("trace", name, [*bundled_names("traces"), "FILE"])


def is_page_list(path: Path) -> bool:
    """Say whether a file is a page list, by its name."""
    return path.name.lower().endswith((".csv", ".csv.gz"))


def is_profile(path: Path) -> bool:
    """Say whether a file is a trace profile, by its name."""
    return path.suffix.lower() == ".toml"


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # a name too long, or with a NUL character
        return False


def _draw_from_profile(
    path: Path, texts: Mapping[str, str], pages: int, seed: int, replication: int
) -> Workload:
    document = read_toml(path)
    if "regimes" in document:
        from psm_sim.workload import shifting

        regimes = shifting.regimes_of(document, path)
        return shifting.draw(
            regimes, build(shifting.Shifting, texts, f"trace {regimes.name}"), pages, seed, replication
        )
    profile = profile_of(document, path)
    drawing = build(Drawing, {**profile.defaults, **texts}, f"trace {profile.name}")
    drawn = draw_pages(profile, drawing, pages, seed, replication)
    return Workload(profile.name, drawn, profile.synthetic, profile.remark, values_of(drawing))


def _replay_page_list(path: Path, texts: Mapping[str, str], pages: int) -> Workload:
    missing = build(Missing, texts, f"page list {path.name}")
    found = read_page_list(path, missing)
    remark = f"pages replayed from {path.name}, {how_many(len(found), pages)}"
    return Workload(path.name, found[:pages], False, remark, values_of(missing))
