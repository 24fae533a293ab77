"""Files that are written during a run: packet captures and timelines."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_CAPTURE_BYTES
from psm_sim.common.output_files import atomic_write, check_outputs, check_writable, is_special
from psm_sim.network import Observer, Topology
from psm_sim.policies.factory import PolicyLike, label_of, spec_text
from psm_sim.simulation.scenario import Scenario
from psm_sim.workload import Workload


@dataclass(frozen=True)
class RunOutputs:
    """Requested output files. Each of several policies has its own file, such as ``run-bsd.pcap``.

    All files are written atomically at the end of the runs. If writing a file fails, no file is replaced.
    """

    capture: Path | None = None
    timeline: Path | None = None

    @classmethod
    def of(cls, capture: str | Path | None, timeline: str | Path | None) -> RunOutputs:
        """Convert the names of the two files. None disables a file."""
        return cls(*(None if name is None else Path(name) for name in (capture, timeline)))

    def files(self, policies: Sequence[PolicyLike]) -> list[tuple[str, Path]]:
        """Return the option and the path of each file that is written for *policies*."""
        return [(f"--{kind}", path) for kind in _SUFFIXES for path in self._paths(kind, policies)]

    def check(self, policies: Sequence[PolicyLike], scenario: Scenario, topology: Topology) -> None:
        """Check that the files of the *policies* can be written.

        *topology* is the resolved topology of the *scenario*.

        Raises
        ------
        InputError
            If a file has the wrong suffix, is not writable or is an input of the run, or the topology cannot
            be captured.
        """
        for kind, suffix in _SUFFIXES.items():
            for path in self._paths(kind, policies):
                if path.suffix.lower() != suffix and not is_special(path):
                    raise InputError(f"--{kind} must be a file that ends in {suffix}, got {str(path)!r}.")
                check_writable(path, f"--{kind}")
        files = self.files(policies)
        if files:
            specs = [policy for policy in policies if isinstance(policy, (str, Spec))]
            check_outputs(files, scenario.files(specs), force=True)
        if self.capture is not None:
            from psm_sim.network.parts.capture import check_capturable

            check_capturable(topology, topology.station_count)

    def check_size(self, workloads: Sequence[Workload], topology: Topology) -> None:
        """Check that the files of these *workloads* do not become too large.

        Raises
        ------
        InputError
            If the estimated size exceeds the limit of a capture or the free disk space.
        """
        for kind in _SUFFIXES:
            path: Path | None = getattr(self, kind)
            if path is None or is_special(path):
                continue
            size = _estimate_bytes(kind, workloads, topology)
            max_size = min(MAX_CAPTURE_BYTES, shutil.disk_usage(path.resolve().parent).free)
            if size > max_size:
                raise InputError(
                    f"--{kind} {str(path)!r} would have about {size / 1e6:,.1f} MB, but at most"
                    f" {max_size / 1e6:,.1f} MB are possible; use fewer pages or a shorter time."
                )

    @contextmanager
    def observers(
        self, policies: Sequence[PolicyLike], stations: Sequence[str] = ("station",)
    ) -> Iterator[list[list[list[Observer]]]]:
        """Yield the observers of each policy and station. If the ``with`` block succeeds, write the files."""
        by_policy: list[list[list[Observer]]] = [[[] for _ in stations] for _ in policies]
        with ExitStack() as stack:
            for kind in _SUFFIXES:
                for path, by_station in zip(self._paths(kind, policies), by_policy, strict=False):
                    file = stack.enter_context(atomic_write(path, f"--{kind}"))
                    added = stack.enter_context(_observers(kind, file, stations))
                    for observers, observer in zip(by_station, added, strict=True):
                        observers.append(observer)
            yield by_policy

    def refuse(self, several: str) -> None:
        """Raise InputError if files are requested. *several* is the reason, such as ``"3 clients"``."""
        for kind in _SUFFIXES:
            path = getattr(self, kind)
            if path is not None:
                raise InputError(
                    f"--{kind} {str(path)!r} conflicts with {several}, because a file can show only one run."
                )

    def _paths(self, kind: str, policies: Sequence[PolicyLike]) -> list[Path]:
        path: Path | None = getattr(self, kind)
        if path is None:
            return []
        if len(policies) == 1:
            return [path]
        names = [_file_name(policy) for policy in policies]
        duplicate = next((name for number, name in enumerate(names) if name in names[:number]), None)
        if duplicate is not None:
            raise InputError(
                f"--{kind}: two policies would write {path.stem}-{duplicate}{path.suffix}; specify each"
                " policy only once."
            )
        return [path.with_name(f"{path.stem}-{name}{path.suffix}") for name in names]


NO_OUTPUTS = RunOutputs()
"""No output files."""

_SUFFIXES = {"capture": ".pcap", "timeline": ".json"}


def _file_name(policy: PolicyLike) -> str:
    name = label_of(policy) or spec_text(policy)
    return re.sub(r"[^\w.=+,-]+", "-", name).strip("-.") or "policy"


def _estimate_bytes(kind: str, workloads: Sequence[Workload], topology: Topology) -> int:
    """Return the approximate size of a file, in bytes."""
    if kind == "capture":
        from psm_sim.network.parts.capture import capture_bytes

        return capture_bytes(workloads, topology)
    from psm_sim.simulation.perfetto import perfetto_bytes

    return sum(perfetto_bytes(workload) for workload in workloads)


@contextmanager
def _observers(kind: str, file: BinaryIO, stations: Sequence[str]) -> Iterator[Sequence[Observer]]:
    """Yield an observer for each station. The events of all stations are written to *file*."""
    if kind == "capture":
        from psm_sim.network.parts.capture import capture_observers

        yield capture_observers(file, len(stations))
    else:
        from psm_sim.simulation.perfetto import write_perfetto
        from psm_sim.simulation.recorder import Recorder

        recorders = [Recorder(name) for name in stations]
        yield recorders
        write_perfetto(file, recorders)
