"""Watch: the files that are written while policies run, a capture and a timeline of each one asked for."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from psm_sim.errors import InputError
from psm_sim.files.atomic_file import atomic_write, check_writable, is_special
from psm_sim.limits import MAX_CAPTURE_BYTES
from psm_sim.network import Observer, Topology
from psm_sim.policies import Policy
from psm_sim.simulation.references import PolicyLike
from psm_sim.workload import Workload


@dataclass(frozen=True)
class RunOutputs:
    """Files that are asked for; of several policies each has its own, ``FILE-POLICY``.

    All of them are complete when the runs are over, and none is touched if one of them fails.
    """

    capture: Path | None = None
    timeline: Path | None = None

    @classmethod
    def of(cls, capture: str | Path | None, timeline: str | Path | None) -> RunOutputs:
        """Return what is asked for by the names of files."""
        return cls(*(None if each is None else Path(each) for each in (capture, timeline)))

    def __bool__(self) -> bool:
        return self.capture is not None or self.timeline is not None

    def files(self, policies: Sequence[PolicyLike]) -> list[Path]:
        """Return the files that are written for *policies*."""
        return [path for kind in ("capture", "timeline") for path in self._paths(kind, policies)]

    def check(self, policies: Sequence[PolicyLike], topology: Topology) -> None:
        """Refuse what cannot be written, before anything is run.

        Raises
        ------
        InputError
            If a file has another suffix or cannot be written, or headers do not fit the topology.
        """
        for kind, suffix in _SUFFIXES.items():
            for path in self._paths(kind, policies):
                if path.suffix.lower() != suffix and not is_special(path):
                    raise InputError(f"--{kind} is {str(path)!r}; expected a file that ends in {suffix}.")
                check_writable(path, f"--{kind}")
        if self.capture is not None:
            from psm_sim.network.observers.capture import check_capturable

            check_capturable(topology, topology.station_count)

    def check_size(self, workloads: Sequence[Workload], topology: Topology) -> None:
        """Refuse a file that would be too large to open, or does not fit on its disk.

        Parameters
        ----------
        workloads
            That of each station.
        topology
            The topology.

        Raises
        ------
        InputError
            If it would be.
        """
        for kind in _SUFFIXES:
            path: Path | None = getattr(self, kind)
            if path is None or is_special(path):
                continue
            size = _expected(kind, workloads, topology)
            most = min(MAX_CAPTURE_BYTES, shutil.disk_usage(path.resolve().parent).free)
            if size > most:
                raise InputError(
                    f"--{kind} is {str(path)!r}, which would have about {size / 1e9:,.1f} GB; expected"
                    f" at most {most / 1e9:,.1f} GB, so give fewer pages or a shorter time."
                )

    @contextmanager
    def observers(
        self, policies: Sequence[PolicyLike], stations: Sequence[str] = ("station",)
    ) -> Iterator[list[list[list[Observer]]]]:
        """Give the observers of each policy and station, and complete their files if the block ends well."""
        seen: list[list[list[Observer]]] = [[[] for _ in stations] for _ in policies]
        with ExitStack() as stack:
            for kind in _SUFFIXES:
                for path, told in zip(self._paths(kind, policies), seen, strict=False):
                    file = stack.enter_context(atomic_write(path, f"--{kind}"))
                    for observers, each in zip(told, _observers(kind, file, stations), strict=True):
                        observers.append(each)
            yield seen

    def refuse(self, several: str) -> None:
        """Refuse to watch *several* runs of a policy, such as ``"3 clients"``, if anything is asked for."""
        for kind in _SUFFIXES:
            path = getattr(self, kind)
            if path is not None:
                raise InputError(
                    f"--{kind} is {str(path)!r}, but there are {several}; expected one, since a file shows"
                    " one run."
                )

    def _paths(self, kind: str, policies: Sequence[PolicyLike]) -> list[Path]:
        path: Path | None = getattr(self, kind)
        if path is None:
            return []
        if len(policies) == 1:
            return [path]
        names = [_file_name(policy) for policy in policies]
        twice = next((name for number, name in enumerate(names) if name in names[:number]), None)
        if twice is not None:
            raise InputError(
                f"--{kind} is {str(path)!r}, but two policies would write {path.stem}-{twice}{path.suffix};"
                " expected each policy once."
            )
        return [path.with_name(f"{path.stem}-{name}{path.suffix}") for name in names]


NO_OUTPUTS = RunOutputs()
"""No file is written."""

_SUFFIXES = {"capture": ".pcap", "timeline": ".json"}


def _file_name(policy: PolicyLike) -> str:
    label = policy.name if isinstance(policy, Policy) else str(policy)
    return re.sub(r"[^\w.=+,-]+", "-", label).strip("-.") or "policy"


def _expected(kind: str, workloads: Sequence[Workload], topology: Topology) -> int:
    """Return the bytes that a file will have, about."""
    if kind == "capture":
        from psm_sim.network.observers.capture import capture_bytes

        return capture_bytes(workloads, topology)
    from psm_sim.network.observers.timeline import timeline_bytes

    return sum(timeline_bytes(workload.pages, workload.messages) for workload in workloads)


def _observers(kind: str, file: BinaryIO, stations: Sequence[str]) -> Sequence[Observer]:
    """Return an observer of each station; all write to the same file."""
    if kind == "capture":
        from psm_sim.network.observers.capture import capture_observers

        return capture_observers(file, len(stations))
    from psm_sim.network.observers.timeline import timeline_observers

    return timeline_observers(file, stations)
