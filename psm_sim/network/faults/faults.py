"""Faults of a world, put together: its hosts and programs, and what takes frames on which link."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from simpy import Environment

from psm_sim.errors import InputError
from psm_sim.network.association import null_frame
from psm_sim.network.browser import Browser, Visit
from psm_sim.network.end_systems import EndSystems, FramePath
from psm_sim.network.faults.browser import WatchedBrowser
from psm_sim.network.faults.frame_loss import Cause, FrameLoss, RandomFrameLoss
from psm_sim.network.faults.host import ResettingHost
from psm_sim.network.faults.outages import GilbertElliott, OutageSchedule
from psm_sim.network.faults.restarts import ForgetfulHop, Restarts
from psm_sim.network.faults.server import StallingServer
from psm_sim.network.host import Host
from psm_sim.network.link import Link, LinkName
from psm_sim.network.page_failure_handler import PageFailureHandler
from psm_sim.network.radio import Radio
from psm_sim.network.segment import Segment
from psm_sim.network.tcp_endpoint import Application, Endpoint
from psm_sim.network.topology import Topology
from psm_sim.random_streams import stream_name
from psm_sim.workload.page_view import Page

PageCallback = Callable[[Visit], None]

_MAX_SPELLS = 1_000_000
"""Restarts, or stalls, of a run: some tens of seconds."""


class Faults(EndSystems):
    """End systems and frames to which faults happen, and what these have done to them.

    Parameters
    ----------
    env, topology
        The clock, and the scenario in numbers.
    station
        Its place on the access point, from 0: all share its restarts, and each has its own other faults.
    """

    def __init__(self, env: Environment, topology: Topology, station: int = 0) -> None:
        super().__init__(env, topology)
        self._station = station
        self._seed = topology.faults.seed if topology.faults.seed is not None else 1
        self._stalls = self._spells(
            stream_name("stalls", station), topology.faults.stall_every_s, topology.faults.stall_s
        )
        self._restarts: Restarts | None = None
        self._losses: dict[LinkName, FrameLoss] = {}

    def _check(self, pages: Sequence[Page]) -> None:
        """Refuse more restarts or stalls than can be simulated: they go on while the user thinks.

        Raises
        ------
        InputError
            If there would be more than a million of them.
        """
        think_s, given = sum(page.think_s for page in pages), self.topology.faults
        for name, every_s, lasts_s in (
            ("restart_every_s", given.restart_every_s, given.restart_s),
            ("stall_every_s", given.stall_every_s, given.stall_s),
        ):
            if every_s is not None and think_s > _MAX_SPELLS * (every_s + lasts_s):
                raise InputError(
                    f"faults: {name} is {every_s:g}, and the pages have {think_s:g} s of think time; expected"
                    f" at most {_MAX_SPELLS:,} faults in it: raise {name}, or give fewer pages."
                )

    def begin(self, path: FramePath, pages: Sequence[Page]) -> None:
        """Take frames on the path, each link's behind all that was put on it; restart its access point."""
        self._check(pages)
        self._messenger = path.messenger
        if self._losses:
            return
        self._restart(path)
        hop, gone = path.hop, self._restarts
        sent, fetched = ([gone.takes_uplink], [gone.takes_downlink]) if gone else ([], [])
        self._take(path, hop.up, hop.up, sent)
        self._take(path, path.wired_up, path.wired_up, [])
        self._take(path, path.wired_down, path.wired_down, [])
        # Not before the radio: it has waited for the frame awake, whether it can be read or not.
        self._take(path, hop.down, hop.radio, fetched)

    def lost_bytes(self, direction: str) -> int:
        """Return the bytes lost so far ``"up"`` or ``"down"``, headers included; null frames are none."""
        return sum(each.bytes for each in self._of(direction))

    def lost_frames(self, direction: str) -> int:
        """Return the number of frames lost."""
        return sum(each.frames for each in self._of(direction))

    def host(
        self, transmit: Callable[[Segment], None], accept: Callable[[Endpoint], Application] | None = None
    ) -> ResettingHost:
        """Return a host whose connections can be broken off."""
        return ResettingHost(self.env, self.topology.tcp, transmit, accept)

    def serve(self, end: Endpoint) -> StallingServer:
        """Return the server's program for the *end* of a connection."""
        return StallingServer(self.env, end, self.topology.browser.persistent, self._server, self._stalls)

    def browser(self, client: Host, on_page: Sequence[PageCallback]) -> WatchedBrowser:
        """Return a browser that gives pages up; *client* is one of :meth:`host`."""
        host = cast("ResettingHost", client)
        self._browser = made = WatchedBrowser(self.env, host, self.topology.browser, on_page)
        made.set_patience(self.topology.faults.patience_s)
        return made

    def watch(self, server: Host, client: Host, browser: Browser, failures: PageFailureHandler) -> None:
        """Have hosts and browser tell of pages that cannot be loaded, and be told of those to report."""
        super().watch(server, client, browser, failures)
        self._server = cast("ResettingHost", server)
        self._browser.overdue, failures.report = failures.fail, self._browser.fail
        for each in (server, client):
            each.give_up = self._unless_over(each.give_up)

    def report(self) -> dict[str, float]:
        """Return what has happened, by name, as far as it was switched on."""
        found: dict[str, float] = {}
        if self.topology.wireless_faults.on or self.topology.wired_faults.on or self._restarts:
            found |= {f"frames lost {way}": self.lost_frames(way) for way in ("up", "down")}
        if self._restarts is not None:
            found["restarts"] = self._restarts.number
        if self._stalls is not None:
            found["server stalls"] = self._stalls.begun(self.env.now)
        return found

    def _unless_over(self, give_up: Callable[[Endpoint], None]) -> Callable[[Endpoint], None]:
        """Return what takes connections given up: those of pages that have failed may be so long after."""

        def take(end: Endpoint) -> None:
            if self._browser.uses(end.connection):
                give_up(end)
            elif self._messenger is not None:
                self._messenger.reopen(end, self._browser.abort)

        return take

    def _of(self, direction: str) -> list[FrameLoss]:
        return [losses for name, losses in self._losses.items() if name.endswith(direction)]

    def _take(self, path: FramePath, link: Link, end: Link | Radio, causes: list[Cause]) -> None:
        """Take frames at the end of a link: by chance, and by other causes."""
        hop = link.name.split()[0]
        parameters = self.topology.wireless_faults if hop == "wireless" else self.topology.wired_faults
        bad = GilbertElliott(
            self._seed, stream_name(f"faults.{hop}", self._station), parameters.good_s, parameters.bad_s
        )
        if parameters.on:
            chosen = bad if parameters.bad_loss else None
            name = stream_name(link.name, self._station)
            over = path.visits.__len__
            causes = [*causes, RandomFrameLoss(self.env, self._seed, name, parameters, chosen, over)]
        self._losses[link.name] = losses = FrameLoss(self.env, link, causes, path.hop.hooks.lost)
        end.deliver = losses.before(end.deliver)

    def _spells(self, name: str, every_s: float | None, lasts_s: float) -> OutageSchedule | None:
        return None if every_s is None else OutageSchedule(self._seed, f"faults.{name}", every_s, lasts_s)

    def _restart(self, path: FramePath) -> None:
        parameters, station = self.topology.faults, path.station
        spells = self._spells("restarts", parameters.restart_every_s, parameters.restart_s)
        if spells is None:
            return
        at_once = parameters.restart_noticed == "return"
        noticed = (lambda: station.send_null(null_frame())) if at_once else (lambda: None)
        self._restarts = Restarts(self.env, spells, cast("ForgetfulHop", path.hop), noticed)
