"""Fault injection into one world: frame loss, restarts, and hosts that abort connections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from simpy import Environment

from psm_sim.common.errors import InputError
from psm_sim.common.random_streams import random_stream, stream_name
from psm_sim.network.browser import Browser, Visit
from psm_sim.network.end_systems import EndSystems, FramePath
from psm_sim.network.host import Host
from psm_sim.network.link import Link, LinkName
from psm_sim.network.page_outcomes import PageFailureHandler
from psm_sim.network.parts.faults.host_faults import AbandoningBrowser, ResettableServer, ResettingHost
from psm_sim.network.parts.faults.restarts import Restarts
from psm_sim.network.parts.gilbert import GilbertLosses
from psm_sim.network.radio import Radio
from psm_sim.network.segment import Segment, is_null
from psm_sim.network.tcp_endpoint import Application, Endpoint
from psm_sim.network.topology import Topology
from psm_sim.network.topology_sections import FrameLossParameters
from psm_sim.workload.page_view import Page

Cause = Callable[[], bool]
"""Cause of losses. It is called once per frame and returns whether the frame is lost."""

_DRAWS_PER_PAGE = 1 << 40
"""Random numbers reserved for each page, more than any page has frames."""


class RandomFrameLoss:
    """Random frame loss on a link.

    Each page has its own random numbers, so an additional frame in one page does not change the losses of
    later pages. *page* is a function that returns the number of pages finished so far.
    """

    def __init__(
        self, seed: int, name: str, parameters: FrameLossParameters, page: Callable[[], int]
    ) -> None:
        self._page = page
        random = random_stream(seed, f"faults.{name}")
        # Each page has its own section of a single stream, because creating a stream takes half as long as
        # simulating a page.
        self._skip: Callable[[int], object] = random.bit_generator.advance  # type: ignore[attr-defined]
        self._losses = GilbertLosses(random.random, parameters.loss, parameters.loss_run)
        self._number = self._drawn = 0

    def __call__(self) -> bool:
        """Return whether the frame is lost."""
        number = self._page()
        if number != self._number:
            self._skip((number - self._number) * _DRAWS_PER_PAGE - self._drawn)
            self._number, self._drawn = number, 0
            self._losses.restart()
        self._drawn += 1
        return self._losses.lost()


class FrameLoss:
    """Loss of frames on one link. ``frames`` and ``bytes`` count the lost frames except null data frames."""

    def __init__(
        self,
        env: Environment,
        link: Link,
        causes: Sequence[Cause],
        on_lost: Sequence[Callable[[Link, float, Segment], None]],
        deliver: Callable[[Segment], None],
    ) -> None:
        self._env, self._link, self._causes, self._on_lost = env, link, causes, on_lost
        self._deliver = deliver
        self.frames = self.bytes = 0

    def deliver(self, segment: Segment) -> None:
        """Deliver a frame, or drop it if it is lost."""
        # Not any(), because each cause must be called for each frame.
        if not sum(cause() for cause in self._causes):
            self._deliver(segment)
            return
        if not is_null(segment):
            self.frames += 1
            self.bytes += segment.wire_bytes
        for on_lost in self._on_lost:
            on_lost(self._link, self._env.now, segment)


_MAX_RESTARTS = 1_000_000
"""Maximum number of restarts in a run. A million take some tens of seconds to simulate."""


class Faults(EndSystems):
    """End systems with faults and their counters. A restart affects all stations, other faults only one."""

    def __init__(self, env: Environment, topology: Topology) -> None:
        super().__init__(env, topology)
        self._restarts: Restarts | None = None
        self._losses: dict[LinkName, FrameLoss] = {}

    def _check(self, pages: Sequence[Page]) -> None:
        """Raise an error if the think times contain more than a million restarts."""
        think_s, parameters = sum(page.think_s for page in pages), self.topology.faults
        every_s = parameters.restart_every_s
        if every_s is not None and think_s > _MAX_RESTARTS * (every_s + parameters.restart_s):
            raise InputError(
                f"faults: restart_every_s = {every_s:g} causes more than {_MAX_RESTARTS:,} restarts in"
                f" {think_s:g} s of think time; increase restart_every_s or simulate fewer pages."
            )

    def begin(self, path: FramePath, pages: Sequence[Page]) -> None:
        """Add frame losses to the links of *path*, and plan the first restart.

        Call this method after a messenger has been added, because the losses wrap the final receivers of the
        links.
        """
        self._check(pages)
        self._messenger = path.messenger
        hop, faults = path.hop, self.topology.faults
        up, down = list[Cause](), list[Cause]()
        if faults.restart_every_s is not None:
            self._restarts = restarts = Restarts(
                self.env,
                random_stream(self.topology.seed, "faults.restarts"),
                (faults.restart_every_s, faults.restart_s),
                hop.forget,
                path.station.send_null,
            )
            up, down = [restarts.takes_uplink], [restarts.takes_downlink]
        self._add_losses(path, hop.up, hop.up, up)
        self._add_losses(path, path.wired_up, path.wired_up, [])
        self._add_losses(path, path.wired_down, path.wired_down, [])
        # Drop a frame after the radio has received it, because the radio stays awake for corrupt frames too.
        self._add_losses(path, hop.down, hop.radio, down)

    def lost_bytes(self, direction: str) -> int:
        """Return the bytes lost in *direction*, including headers but without null data frames."""
        return sum(losses.bytes for losses in self._losses_in(direction))

    def lost_frames(self, direction: str) -> int:
        """Return the number of frames lost in *direction*, without null data frames."""
        return sum(losses.frames for losses in self._losses_in(direction))

    def host(
        self, transmit: Callable[[Segment], None], accept: Callable[[Endpoint], Application] | None = None
    ) -> ResettingHost:
        """Return a host whose connections can be aborted."""
        return ResettingHost(self.env, self.topology.tcp, transmit, accept)

    def serve(self, end: Endpoint) -> ResettableServer:
        """Return the server program for *end*, the server's end of a connection."""
        return ResettableServer(self.env, end, self._server)

    def browser(self, client: Host, on_page: Sequence[Callable[[Visit], None]]) -> AbandoningBrowser:
        """Return a browser that can abandon pages; *client* is a host from :meth:`host`."""
        self._client = cast("ResettingHost", client)
        self._browser = AbandoningBrowser(self.env, self._client, self.topology.browser, on_page)
        return self._browser

    def watch(self, server: Host, client: Host, browser: Browser, failures: PageFailureHandler) -> None:
        """Set the callbacks of the hosts and the browser. A failure abandons its page."""
        super().watch(server, client, browser, failures)
        self._server = cast("ResettingHost", server)
        failures.report = self._browser.fail
        for host in (server, client):
            host.give_up = self._for_current_page(host.give_up)

    def report(self) -> dict[str, float]:
        """Return fault counts by name, for the faults that are enabled."""
        counts: dict[str, float] = {}
        if self.topology.wireless_faults.loss or self.topology.wired_faults.loss or self._restarts:
            counts |= {
                f"frames lost {direction}": self.lost_frames(direction) for direction in ("up", "down")
            }
        if self._restarts is not None:
            counts["restarts"] = self._restarts.number
        return counts

    def _for_current_page(self, give_up: Callable[[Endpoint], None]) -> Callable[[Endpoint], None]:
        """Return a wrapper of *give_up* that ignores connections of earlier pages.

        The wrapper reopens persistent connections.
        """

        def filtered(end: Endpoint) -> None:
            if self._browser.uses(end.connection):
                give_up(end)
            elif self._messenger is not None:
                self._messenger.reopen(end, self._client.abort)

        return filtered

    def _losses_in(self, direction: str) -> list[FrameLoss]:
        return [losses for name, losses in self._losses.items() if name.endswith(direction)]

    def _add_losses(self, path: FramePath, link: Link, end: Link | Radio, causes: list[Cause]) -> None:
        """Let a link lose frames at random and for other *causes*. *end* is the receiving end of *link*."""
        hop = link.name.split()[0]
        parameters = self.topology.wireless_faults if hop == "wireless" else self.topology.wired_faults
        if parameters.loss:
            name = stream_name(link.name, self.topology.station_name)
            causes = [*causes, RandomFrameLoss(self.topology.seed, name, parameters, path.visits.__len__)]
        losses = FrameLoss(self.env, link, causes, path.hop.hooks.lost, end.deliver)
        self._losses[link.name] = losses
        if causes:
            end.deliver = losses.deliver
