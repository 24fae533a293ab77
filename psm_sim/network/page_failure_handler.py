"""Handling of pages that cannot be loaded."""

from __future__ import annotations

from collections.abc import Callable

from psm_sim.network.access_point import AccessPoint
from psm_sim.network.page_error import PageError
from psm_sim.network.page_visits import PageVisits
from psm_sim.network.tcp_endpoint import Endpoint
from psm_sim.network.topology import Topology


class PageFailureHandler:
    """Handler that ends the run at a failed page, or reports the failure and continues.

    Parameters
    ----------
    topology
        Limits of TCP and browser, and whether failures are reported.
    visits, access_point, policy
        Data for the error message: pages so far, dropped frames, and name of the policy.

    Attributes
    ----------
    report : callable
        Called with the reason of a failure; must be set if failures are reported.
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
        """Handle a connection that *side* ("server" or "client") gave up; *end* is its endpoint."""
        key, segment = ("give_up_s", "data") if end.acknowledged else ("syn_give_up_s", "SYN")
        limit_s = getattr(self._topology.tcp, key)
        self.fail(
            f"the {side} has given a connection up, since its {segment} had no new ACK for {limit_s:g} s",
            f"use shorter dozes, a larger access_point.buffer_frames or faster links, or increase tcp.{key}",
        )

    def stalled(self) -> None:
        """Handle a page that has received no new byte for too long."""
        limit_s = self._topology.browser.stall_s
        self.fail(
            f"no new byte of it has come for {limit_s:g} s",
            "use shorter dozes, a larger access_point.buffer_frames, faster links or shorter server delays,"
            " or increase browser.stall_s",
        )

    def fail(self, reason: str, advice: str) -> None:
        """Report a page that cannot be loaded, or end the run with a :class:`PageError`."""
        if self._topology.reports_failures:
            self.report(reason)
            return
        dropped = self._access_point.dropped_frames
        raise PageError(len(self._visits) + 1, (reason, advice), dropped, self._policy)
