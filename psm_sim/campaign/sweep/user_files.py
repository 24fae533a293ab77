"""User files: read once, sent to workers by content, and named there by the places where they lie."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from psm_sim.campaign.sweep.grid import SweepTask
from psm_sim.common.bundled_files import bundled_names
from psm_sim.common.component_spec import Spec, class_file, split_commas
from psm_sim.common.errors import InputError
from psm_sim.common.files.reopenable_input import read_bytes
from psm_sim.common.hashing import digest_of
from psm_sim.workload.loading import find_trace

PathMap = Mapping[str, str]
"""The path where a file lies, by the path that the user wrote."""

MAX_BYTES = 512 << 20
"""Bytes of a file: it is held in memory, and sent to workers."""


@dataclass(frozen=True)
class UserFiles:
    """Files as pairs (path that the user wrote, content).

    Topology files are not among them: a task carries its topology made.
    """

    contents: tuple[tuple[str, bytes], ...] = ()

    @classmethod
    def of(cls, tasks: Iterable[SweepTask]) -> UserFiles:
        """Read every file that the policies and traces of *tasks* name.

        Raises
        ------
        InputError
            If one cannot be read.
        """
        tasks = list(tasks)
        policies = {str(task.policy): task.policy for task in tasks}
        traces = {text: Spec.parse(text, "trace") for text in (task.scenario.trace_name for task in tasks)}
        files = [file for spec in [*policies.values(), *traces.values()] for file in _named_in(spec)]
        own = {spec.name for spec in traces.values()} - set(bundled_names("traces"))
        paths = dict.fromkeys([*map(str, files), *sorted(str(find_trace(name)) for name in own)])
        return cls(tuple((path, _read(Path(path))) for path in paths))

    def write_to(self, folder: Path) -> dict[str, str]:
        """Write each file below *folder*, under its own name in a folder of its own; return their places."""
        places = {}
        for number, (path, content) in enumerate(self.contents):
            place = folder / str(number) / Path(path).name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            places[path] = str(place)
        return places

    def places(self) -> dict[str, str]:
        """Return the places in a temporary folder of this process, in which they are written once."""
        if not self.contents:
            return {}
        name = digest_of([(path, content.hex()) for path, content in self.contents])
        if name not in _HERE:
            folder = Path(tempfile.mkdtemp(prefix="psm_sim-"))
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            _HERE[name] = self.write_to(folder)
        return _HERE[name]


_HERE: dict[str, dict[str, str]] = {}


@dataclass(frozen=True)
class LocalFiles:
    """Files that lie already where the workers of this machine find them."""

    found: tuple[tuple[str, str], ...] = ()

    def places(self) -> dict[str, str]:
        """Return the places."""
        return dict(self.found)


def relocate_paths(spec: Spec, places: PathMap) -> Spec:
    """Return *spec* with each path in *places* replaced by the place of its file."""
    if not places:
        return spec
    return Spec(_moved(spec.name, places), tuple((key, _moved(value, places)) for key, value in spec.items))


def restore_user_paths(text: str, places: PathMap) -> str:
    """Return a sentence that names files as the user did."""
    for path, place in places.items():
        text = text.replace(place, path)
    return text


def _moved(text: str, places: PathMap) -> str:
    """Replace the path with which *text* begins, and those of the values after a class."""
    found = class_file(text)
    path = found[0] if found else text
    if str(Path(path)) not in places:
        return text
    head = f"{path}:{found[1]}" if found else path
    values = split_commas(text[len(head) + 1 :]) if len(text) > len(head) else []
    pairs = [part.partition("=") for part in values]
    rest = ",".join(f"{key}={_moved(value, places)}" for key, _, value in pairs)
    return places[str(Path(path))] + head[len(path) :] + (f":{rest}" if rest else "")


def _named_in(spec: Spec) -> list[Path]:
    """Return the files of *spec* that are no mere names: a file may happen to be called as a policy is."""
    return [file for file in spec.files() if file.suffix and not _is_number(str(file))]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read(path: Path) -> bytes:
    try:
        return read_bytes(path, MAX_BYTES)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; give a readable file.") from error
