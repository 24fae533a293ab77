"""Frame loss on a link: a fate for each frame that arrives, from causes that do not know each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simpy import Environment

from psm_sim.network.association import is_null
from psm_sim.network.faults.outages import GilbertElliott
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.network.topology_faults import LossParameters
from psm_sim.random_streams import random_stream

Cause = Callable[[], bool]
"""Cause of losses: asked once for each frame, it says whether it takes that one."""


_PLACES = 1 << 40
"""Numbers that the stream has for each page, more than any page has frames."""


class RandomFrameLoss:
    """Random loss on a link, in bad times with another share.

    The k-th frame that arrives after page n is over draws the same number under every policy, and bad times
    are the same on the clock. So a policy that sends one frame more in one page changes nothing in the next.

    Parameters
    ----------
    env, seed, name
        The clock, the seed, and the name of the link, and of the station if there are several.
    parameters
        The shares.
    bad
        The bad times of the hop; None: there are none.
    page
        Returns the number of pages that are over.
    """

    def __init__(
        self,
        env: Environment,
        seed: int,
        name: str,
        parameters: LossParameters,
        bad: GilbertElliott | None,
        page: Callable[[], int],
    ) -> None:
        self._env, self._page, self._parameters, self._bad = env, page, parameters, bad
        random = random_stream(seed, f"faults.{name}")
        # One stream with a place for each page: a stream for each page would take as long as half the page.
        self._skip: Callable[[int], object] = random.bit_generator.advance  # type: ignore[attr-defined]
        self._draw: Callable[[], float] = random.random
        self._number = self._drawn = 0

    def __call__(self) -> bool:
        """Say whether the frame is lost."""
        number = self._page()
        if number != self._number:
            self._skip((number - self._number) * _PLACES - self._drawn)
            self._number, self._drawn = number, 0
        self._drawn += 1
        bad = self._bad is not None and self._bad.at(self._env.now)
        return self._draw() < (self._parameters.bad_loss if bad else self._parameters.loss)


class FrameLoss:
    """Losses at the end of one link; ``frames`` and ``bytes`` count them, null frames left out.

    Parameters
    ----------
    env, link
        The clock, and the link.
    causes
        What can take a frame.
    tell
        Called as :class:`~psm_sim.network.observers.Observer` says of ``lost``.
    """

    def __init__(
        self,
        env: Environment,
        link: Link,
        causes: Sequence[Cause],
        notify: Sequence[Callable[[Link, float, Segment], None]] = (),
    ) -> None:
        self._env, self._link, self._causes, self._tell = env, link, causes, notify
        self.frames = self.bytes = 0

    def before(self, deliver: Callable[[Segment], None]) -> Callable[[Segment], None]:
        """Return what takes the frames that arrive: *deliver*, but for those lost."""
        if not self._causes:
            return deliver

        def take(segment: Segment) -> None:
            # Not any(), since each cause has to hear of each frame.
            if sum(cause() for cause in self._causes):
                self._lose(segment)
            else:
                deliver(segment)

        return take

    def _lose(self, segment: Segment) -> None:
        if not is_null(segment):
            self.frames += 1
            self.bytes += segment.wire_bytes
        for notify in self._tell:
            notify(self._link, self._env.now, segment)
