"""Transfer of user files to workers, and translation of their paths."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from psm_sim.campaign.sweep.grid import SweepTask
from psm_sim.common.component_spec import Spec, class_file, split_commas
from psm_sim.common.errors import InputError
from psm_sim.common.hashing import digest_of
from psm_sim.common.input_files import bundled_names, read_bytes
from psm_sim.workload.loading import find_trace

PathMap = Mapping[str, str]
"""Path of each file on the worker, by the path that the user wrote."""

MAX_BYTES = 512 << 20
"""Maximum size of a file in bytes, because files are kept in memory and sent to workers."""


@dataclass(frozen=True)
class UserFiles:
    """Contents of user files, as pairs (path that the user wrote, content).

    Topology files are not included, because a job contains the resolved topology.
    """

    contents: tuple[tuple[str, bytes], ...] = ()

    @classmethod
    def of(cls, tasks: Iterable[SweepTask]) -> UserFiles:
        """Read every file that the policies and traces of *tasks* name.

        Raises
        ------
        InputError
            If a file cannot be read.
        """
        tasks = list(tasks)
        policies = {str(task.policy): task.policy for task in tasks}
        traces = {text: Spec.parse(text, "trace") for text in (task.scenario.trace_name for task in tasks)}
        files = [file for spec in [*policies.values(), *traces.values()] for file in _named_files(spec)]
        trace_files = {spec.name for spec in traces.values()} - set(bundled_names("traces"))
        paths = dict.fromkeys([*map(str, files), *sorted(str(find_trace(name)) for name in trace_files)])
        return cls(tuple((path, _read(Path(path))) for path in paths))

    @property
    def has_code(self) -> bool:
        """Whether a file is Python code."""
        return any(path.lower().endswith(".py") for path, _ in self.contents)

    def write_to(self, folder: Path) -> dict[str, str]:
        """Write the files of each folder to a subfolder of *folder*, and return the new paths."""
        paths, folders = {}, dict[Path, int]()
        for path, content in self.contents:
            number = folders.setdefault(Path(path).parent, len(folders))
            copy = folder / str(number) / Path(path).name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)
            paths[path] = str(copy)
        return paths

    def worker_paths(self) -> dict[str, str]:
        """Write the files to a temporary folder of this process once, and return their paths."""
        if not self.contents:
            return {}
        digest = digest_of([(path, content.hex()) for path, content in self.contents])
        if digest not in _WRITTEN:
            folder = Path(tempfile.mkdtemp(prefix="psm_sim-"))
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            _WRITTEN[digest] = self.write_to(folder)
        return _WRITTEN[digest]


_WRITTEN: dict[str, dict[str, str]] = {}
"""Worker paths of the files that this process has written, by the hash of paths and contents."""


def relocate_paths(spec: Spec, paths: PathMap) -> Spec:
    """Return *spec* with the user's paths replaced by the paths on the worker."""
    if not paths:
        return spec
    return Spec(
        _relocate(spec.name, paths), tuple((key, _relocate(value, paths)) for key, value in spec.items)
    )


def restore_user_paths(text: str, paths: PathMap) -> str:
    """Replace the paths on the worker in a message by the user's paths."""
    for path, copy in paths.items():
        text = text.replace(copy, path)
    return text


def _relocate(text: str, paths: PathMap) -> str:
    """Replace a leading path in *text*, and the paths in the parameters of a user-defined class."""
    parsed = class_file(text)
    path = parsed[0] if parsed else text
    if str(Path(path)) not in paths:
        return text
    head = f"{path}:{parsed[1]}" if parsed else path
    values = split_commas(text[len(head) + 1 :]) if len(text) > len(head) else []
    pairs = [part.partition("=") for part in values]
    rest = ",".join(f"{key}={_relocate(value, paths)}" for key, _, value in pairs)
    return paths[str(Path(path))] + head[len(path) :] + (f":{rest}" if rest else "")


def _named_files(spec: Spec) -> list[Path]:
    """Return the files that *spec* names.

    Files without a suffix are ignored, because a file may have the same name as a policy.
    """
    return [file for file in spec.files() if file.suffix]


def _read(path: Path) -> bytes:
    try:
        return read_bytes(path, MAX_BYTES)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; specify a readable file.") from error
