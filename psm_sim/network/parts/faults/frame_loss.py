"""Frame loss at the end of a link, from independent causes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simpy import Environment

from psm_sim.common.random_streams import random_stream
from psm_sim.network.link import Link
from psm_sim.network.parts.association_timeout import is_null
from psm_sim.network.parts.gilbert_elliott import GilbertElliott
from psm_sim.network.segment import Segment
from psm_sim.network.topology_sections import LossParameters

Cause = Callable[[], bool]
"""Cause of losses. It is called once per frame and returns whether the frame is lost."""

_DRAWS_PER_PAGE = 1 << 40
"""Random numbers reserved for each page, more than any page has frames."""


class RandomFrameLoss:
    """Random frame loss on a link, with a different probability in the bad state.

    The k-th frame after the end of page n uses the same random number with every policy, and the bad state
    has the same times. A policy that sends one more frame in a page therefore does not change the losses of
    later pages.

    Parameters
    ----------
    env, seed, name
        The clock, the seed, and the name of the random stream.
    parameters
        Loss probabilities.
    bad : GilbertElliott or None
        Bad state of the hop; None if there is none.
    page
        Returns the number of finished pages.
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
        # One stream with a section for each page: creating a stream per page costs half a page's time.
        self._skip: Callable[[int], object] = random.bit_generator.advance  # type: ignore[attr-defined]
        self._draw: Callable[[], float] = random.random
        self._number = self._drawn = 0

    def __call__(self) -> bool:
        """Return whether the frame is lost."""
        number = self._page()
        if number != self._number:
            self._skip((number - self._number) * _DRAWS_PER_PAGE - self._drawn)
            self._number, self._drawn = number, 0
        self._drawn += 1
        bad = self._bad is not None and self._bad.at(self._env.now)
        return self._draw() < (self._parameters.bad_loss if bad else self._parameters.loss)


class FrameLoss:
    """Frame losses at the end of one link. ``frames`` and ``bytes`` count them, without null data frames.

    Parameters
    ----------
    env, link
        The clock and the link.
    causes
        Causes of losses.
    on_lost
        Called like :meth:`Observer.lost <psm_sim.network.observers.Observer.lost>`.
    """

    def __init__(
        self,
        env: Environment,
        link: Link,
        causes: Sequence[Cause],
        on_lost: Sequence[Callable[[Link, float, Segment], None]] = (),
    ) -> None:
        self._env, self._link, self._causes, self._on_lost = env, link, causes, on_lost
        self.frames = self.bytes = 0

    def before(self, deliver: Callable[[Segment], None]) -> Callable[[Segment], None]:
        """Return a wrapper of *deliver* that drops the lost frames."""
        if not self._causes:
            return deliver

        def filtered(segment: Segment) -> None:
            # Not any(), because each cause must be called for each frame.
            if sum(cause() for cause in self._causes):
                self._lose(segment)
            else:
                deliver(segment)

        return filtered

    def _lose(self, segment: Segment) -> None:
        if not is_null(segment):
            self.frames += 1
            self.bytes += segment.wire_bytes
        for on_lost in self._on_lost:
            on_lost(self._link, self._env.now, segment)
