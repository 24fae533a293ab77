"""Times and energy of the pages of a run, and the handling of failed pages."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.errors import InputError
from psm_sim.network.access_point import Port
from psm_sim.network.browser import STALL_S, Visit
from psm_sim.network.energy_ledger import Usage
from psm_sim.network.tcp_endpoint import Endpoint
from psm_sim.network.tcp_sender import GIVE_UP_S, SYN_GIVE_UP_S
from psm_sim.network.topology import Topology
from psm_sim.workload.page_view import Page


class PageVisits:
    """Visits in order, each with the usage of the radio at its end. All numbers are stored in one array.

    Attributes
    ----------
    failures : dict of int to str
        Reason of each failed page, by its index.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Discard all visits, to free memory once they have been copied."""
        self._pages: list[Page] = []
        self.failures: dict[int, str] = {}
        self._numbers = array("d")

    def append(self, visit: Visit, usage: Usage) -> None:
        """Append a page and the usage at its end."""
        if visit.failure:
            self.failures[len(self)] = visit.failure
        self._pages.append(visit.page)
        self._numbers.extend((visit.started_s, visit.ended_s, *usage))

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the pages as columns, with their times and the usage at their ends."""
        numbers = np.array(self._numbers).reshape(-1, 2 + len(Usage._fields))
        columns = {
            "page": np.arange(1, len(self) + 1),
            "think_s": np.array([page.think_s for page in self._pages]),
            "objects": np.array([page.objects for page in self._pages]),
            "bytes": np.array([page.total_bytes for page in self._pages]),
            "start_s": numbers[:, 0],
            "page_time_s": numbers[:, 1] - numbers[:, 0],
            **dict(zip(Usage._fields, numbers[:, 2:].T, strict=True)),
        }
        return columns | {name: columns[name].astype(int) for name in ("beacons", "wake_ups", "frames")}

    def __len__(self) -> int:
        return len(self._pages)

    def __getitem__(self, index: int) -> tuple[Visit, Usage]:
        index = range(len(self))[index]
        width = 2 + len(Usage._fields)
        started_s, ended_s, *usage = self._numbers[index * width : (index + 1) * width]
        failure = self.failures.get(index, "")
        return Visit(self._pages[index], started_s, ended_s, failure), Usage._make(usage)

    def __iter__(self) -> Iterator[tuple[Visit, Usage]]:
        return (self[index] for index in range(len(self)))


class PageError(InputError):
    """Failure of a page that ends the run.

    Parameters
    ----------
    page
        Number of the page, from 1.
    cause : tuple of str
        The reason, and the advice to the user.
    dropped_frames
        Number of frames that the access point has dropped so far.
    policy
        Name of the policy.
    """

    def __init__(self, page: int, cause: tuple[str, str], dropped_frames: int, policy: str) -> None:
        super().__init__(page, cause, dropped_frames, policy)
        self.page, self.cause, self.dropped_frames, self.policy = page, cause, dropped_frames, policy

    def __str__(self) -> str:
        """Return the message."""
        reason, advice = self.cause
        return (
            f"Page {self.page} under {self.policy} cannot be loaded: {reason} (frames dropped by the access"
            f" point: {self.dropped_frames}); {advice}."
        )

    def under(self, policy: str) -> PageError:
        """Return a copy of the error with another policy name in its message."""
        return PageError(self.page, self.cause, self.dropped_frames, policy)


class PageFailureHandler:
    """Handler that ends the run at a failed page, or reports the failure and continues.

    Parameters
    ----------
    topology
        Failures are reported if ``topology.can_fail`` is true.
    visits, port, policy
        Pages so far, access-point port, and name of the policy, for the error message.

    Attributes
    ----------
    report : callable
        Called with the reason of a failure that does not end the run.
    """

    def __init__(self, topology: Topology, visits: PageVisits, port: Port, policy: str) -> None:
        self._reports_failures = topology.can_fail
        self._visits, self._port, self._policy = visits, port, policy
        self.report: Callable[[str], None]

    def given_up(self, side: str, end: Endpoint) -> None:
        """Fail the page, because *side* ("server" or "client") gave up the connection of *end*."""
        limit_s, segment = (GIVE_UP_S, "data") if end.acknowledged else (SYN_GIVE_UP_S, "SYN")
        self.fail(
            f"the {side} has given a connection up, since its {segment} had no new ACK for {limit_s:g} s",
            "use shorter dozes, a larger access_point.buffer_frames or faster links",
        )

    def stalled(self) -> None:
        """Fail the page, because no new byte has arrived for too long."""
        self.fail(
            f"no new byte of it has come for {STALL_S:g} s",
            "use shorter dozes, a larger access_point.buffer_frames, faster links or shorter server delays",
        )

    def fail(self, reason: str, advice: str) -> None:
        """Report a page that cannot be loaded, or end the run with a :class:`PageError`."""
        if self._reports_failures:
            self.report(reason)
            return
        number, dropped = len(self._visits) + 1, self._port.dropped_frames
        raise PageError(number, (reason, advice), dropped, self._policy)
