"""Faults of a world, put together: which host and browser it needs, and what takes frames on which link."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from simpy import Environment

from psm_sim.errors import InputError
from psm_sim.network.association import null_frame
from psm_sim.network.browser import Visit
from psm_sim.network.faults.browser import WatchedBrowser
from psm_sim.network.faults.frame_loss import Cause, FrameLoss, RandomFrameLoss
from psm_sim.network.faults.host import ResettingHost
from psm_sim.network.faults.outages import GilbertElliott, OutageSchedule
from psm_sim.network.faults.path import Path
from psm_sim.network.faults.restarts import Restarts
from psm_sim.network.faults.server import StallingServer
from psm_sim.network.host import Host
from psm_sim.network.link import Link, LinkName
from psm_sim.network.observers import ObserverHooks
from psm_sim.network.page_failure_log import PageFailureLog
from psm_sim.network.radio import Radio
from psm_sim.network.tcp_endpoint import Endpoint
from psm_sim.network.topology import Topology
from psm_sim.network.topology_sections import BrowserParameters
from psm_sim.randomness import stream_name
from psm_sim.workload.page import Page

PageCallback = Callable[[Visit], None]

_MAX_SPELLS = 1_000_000
"""Restarts, or stalls, of a run: some tens of seconds."""


class Faults:
    """Faults of one world, and what they have done to it.

    Parameters
    ----------
    env, topology
        The clock, and the scenario in numbers.
    hooks
        Told of each frame lost.
    page
        Returns the number of pages that are over.
    station
        Its place on the access point, from 0: all share its restarts, and each has its own other faults.
    """

    def __init__(
        self,
        env: Environment,
        topology: Topology,
        hooks: ObserverHooks,
        page: Callable[[], int],
        station: int = 0,
    ) -> None:
        self._env, self._topology, self._told, self._page = env, topology, hooks, page
        self._station = station
        self._seed = topology.faults.seed if topology.faults.seed is not None else 1
        self._stalls = self._spells(
            stream_name("stalls", station), topology.faults.stall_every_s, topology.faults.stall_s
        )
        self._restarts: Restarts | None = None
        self._losses: dict[LinkName, FrameLoss] = {}

    def check(self, pages: Sequence[Page]) -> None:
        """Refuse more restarts or stalls than can be simulated: they go on while the user thinks.

        Raises
        ------
        InputError
            If there would be more than a million of them.
        """
        think_s, given = sum(page.think_s for page in pages), self._topology.faults
        for name, every_s, lasts_s in (
            ("restart_every_s", given.restart_every_s, given.restart_s),
            ("stall_every_s", given.stall_every_s, given.stall_s),
        ):
            if every_s is not None and think_s > _MAX_SPELLS * (every_s + lasts_s):
                raise InputError(
                    f"faults: {name} is {every_s:g}, and the pages have {think_s:g} s of think time; expected"
                    f" at most {_MAX_SPELLS:,} faults in it: raise {name}, or give fewer pages."
                )

    def begin(self, path: Path) -> None:
        """Take frames on the path, each link's behind all that was put on it; restart its access point."""
        if self._losses:
            return
        self._restart(path)
        up, wired_up, wired_down, down, radio = path[:5]
        gone = self._restarts
        sent, fetched = ([gone.takes_uplink], [gone.takes_downlink]) if gone else ([], [])
        self._take(up, up, sent)
        self._take(wired_up, wired_up, [])
        self._take(wired_down, wired_down, [])
        # Not before the radio: it has waited for the frame awake, whether it can be read or not.
        self._take(down, radio, fetched)

    def lost_bytes(self, direction: str) -> int:
        """Return the bytes lost so far ``"up"`` or ``"down"``, headers included; null frames are none."""
        return sum(each.bytes for each in self._of(direction))

    def lost_frames(self, direction: str) -> int:
        """Return the number of frames lost."""
        return sum(each.frames for each in self._of(direction))

    def host(self, *arguments: Any) -> ResettingHost:
        """Return a host; *arguments* as for :class:`~psm_sim.network.host.Host`."""
        return ResettingHost(*arguments)

    def browser(
        self, env: Environment, host: Host, parameters: BrowserParameters, tell_page: Sequence[PageCallback]
    ) -> WatchedBrowser:
        """Return the browser.

        Parameters
        ----------
        env, host, parameters, tell_page
            As for :class:`~psm_sim.network.browser.Browser`; the host is one of :meth:`host`.
        """
        made = WatchedBrowser(env, cast("ResettingHost", host), parameters, tell_page)
        made.set_patience(self._topology.faults.patience_s)
        self._browser = made
        return made

    def watch(self, failures: PageFailureLog) -> None:
        """Have the browser tell *failures* of pages that are over, and be told of those to report."""
        self._browser.overdue, failures.report = failures.fail, self._browser.fail

    def abort(self, endpoint: Endpoint) -> None:
        """Break off a connection of the station."""
        self._browser.abort(endpoint)

    def concerns_page(self, endpoint: Endpoint) -> bool:
        """Say whether a connection belongs to the page that is on its way, and not to one that has failed."""
        return self._browser.uses(endpoint.connection)

    def accept(self, endpoint: Endpoint, host: Host) -> StallingServer:
        """Return the server's program for a connection of its *host*."""
        persistent, known = self._topology.browser.persistent, cast("ResettingHost", host)
        return StallingServer(self._env, endpoint, persistent, known, self._stalls)

    def report(self) -> dict[str, float]:
        """Return what has happened, by name, as far as it was switched on."""
        found: dict[str, float] = {}
        if self._topology.wireless_faults.on or self._topology.wired_faults.on or self._restarts:
            found |= {f"frames lost {way}": self.lost_frames(way) for way in ("up", "down")}
        if self._restarts is not None:
            found["restarts"] = self._restarts.number
        if self._stalls is not None:
            found["server stalls"] = self._stalls.begun(self._env.now)
        return found

    def _of(self, direction: str) -> list[FrameLoss]:
        return [losses for name, losses in self._losses.items() if name.endswith(direction)]

    def _take(self, link: Link, end: Link | Radio, causes: list[Cause]) -> None:
        """Take frames at the end of a link: by chance, and by other causes."""
        hop = link.name.split()[0]
        parameters = self._topology.wireless_faults if hop == "wireless" else self._topology.wired_faults
        bad = GilbertElliott(
            self._seed, stream_name(f"faults.{hop}", self._station), parameters.good_s, parameters.bad_s
        )
        if parameters.on:
            chosen = bad if parameters.bad_loss else None
            name = stream_name(link.name, self._station)
            causes = [*causes, RandomFrameLoss(self._env, self._seed, name, parameters, chosen, self._page)]
        self._losses[link.name] = losses = FrameLoss(self._env, link, causes, self._told.lost)
        end.deliver = losses.before(end.deliver)

    def _spells(self, name: str, every_s: float | None, lasts_s: float) -> OutageSchedule | None:
        return None if every_s is None else OutageSchedule(self._seed, f"faults.{name}", every_s, lasts_s)

    def _restart(self, path: Path) -> None:
        parameters, station = self._topology.faults, path.station
        spells = self._spells("restarts", parameters.restart_every_s, parameters.restart_s)
        if spells is None or path.device is None:
            return
        at_once = parameters.restart_noticed == "return"
        noticed = (lambda: station.send_null(null_frame())) if at_once else (lambda: None)
        self._restarts = Restarts(self._env, spells, path.device, noticed)


def build_faults(
    env: Environment, topology: Topology, hooks: ObserverHooks, page: Callable[[], int], station: int = 0
) -> Faults | None:
    """Return the faults of a world; None if nothing is switched on, and no page that fails is reported.

    Parameters
    ----------
    env, topology, hooks, page, station
        As for :class:`Faults`.
    """
    on = topology.can_fail or topology.reports_failures
    return Faults(env, topology, hooks, page, station) if on else None
