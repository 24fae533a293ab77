"""Failures of pages: why one cannot be loaded, and what becomes of it then."""

from __future__ import annotations

from collections.abc import Callable

from psm_sim.network.access_point import AccessPoint
from psm_sim.network.page_error import PageError
from psm_sim.network.page_visits import PageVisits
from psm_sim.network.tcp_endpoint import Endpoint
from psm_sim.network.topology import Topology


class PageFailureHandler:
    """Failures of a run's pages: each ends the run, or is reported to ``report``, which must be set.

    Parameters
    ----------
    topology
        What TCP and browser wait for, and whether failures are reported.
    visits, access_point, policy
        For the sentence that ends the run: the pages that are over, the frames dropped, the policy's name.
    """

    def __init__(
        self, topology: Topology, visits: PageVisits, access_point: AccessPoint, policy: str
    ) -> None:
        self._topology, self._visits, self._access_point, self._policy = (
            topology,
            visits,
            access_point,
            policy,
        )
        self.report: Callable[[str], None]

    def given_up(self, side: str, end: Endpoint) -> None:
        """Say that the *side*, which holds this *end*, has given a connection up."""
        key, segment = ("give_up_s", "data") if end.acknowledged else ("syn_give_up_s", "SYN")
        limit_s = getattr(self._topology.tcp, key)
        self.fail(
            f"the {side} has given a connection up, since its {segment} had no new ACK for {limit_s:g} s",
            f"expected one in that time; let the station doze less long, take more access_point.buffer_frames"
            f" or faster links, or raise tcp.{key}",
        )

    def stalled(self) -> None:
        """Say that no new byte has come for too long."""
        limit_s = self._topology.browser.stall_s
        self.fail(
            f"no new byte of it has come for {limit_s:g} s",
            "expected one in that time; let the station doze less long, take more access_point.buffer_frames,"
            " faster links or shorter server delays, or raise browser.stall_s",
        )

    def fail(self, happened: str, advice: str) -> None:
        """Decide what becomes of a page that cannot be loaded: it is reported, or fails the run."""
        if self._topology.reports_failures:
            self.report(happened)
            return
        dropped = self._access_point.dropped_frames
        raise PageError(len(self._visits) + 1, (happened, advice), dropped, self._policy)
