"""Policy interface: how a radio rests when the link has become idle."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from psm_sim.beacons import Beacons
from psm_sim.parameters import values_of
from psm_sim.policies.service_period import ServicePeriod
from psm_sim.poll import Poll

if TYPE_CHECKING:
    from psm_sim.policies.outstanding_requests import StationRequests


class Plan(Protocol):
    """Plan of the dozes that would follow a rest, one after each beacon at which nothing is held.

    It is an offer. A station that takes it up does not ask the policy at these beacons, and says afterwards
    how many it has heard; one that does not take it up asks at each of them. Both must come to the same.
    """

    def dozes(self) -> Iterator[tuple[int, float]]:
        """Yield the dozes in order, as (beacons each, how many of them); the number can be ``inf``."""

    def followed(self, heard: int, until: int) -> None:
        """Take note of how far it was followed: no more of it will be.

        Parameters
        ----------
        heard
            The number of beacons heard without asking, at least 1; after each of them the station dozed on.
        until
            The number of the beacon for which the last of these dozes was to wake.
        """


@dataclass(frozen=True, slots=True)
class Rest:
    """Rest: stay awake for ``awake_s`` seconds, then doze and wake at the ``beacons``-th beacon after that.

    With ``awake_s`` = ``inf`` the radio does not doze. With ``repeat`` the policy promises the same rest,
    without further wait awake, after every beacon at which nothing is held, so that it is not asked again
    until a frame moves. A ``plan`` says how it would go on where the dozes that follow are not all the same.
    """

    awake_s: float = 0.0
    beacons: int = 1
    repeat: bool = False
    plan: Plan | None = field(default=None, compare=False)


class Frame(NamedTuple):
    """Frame sent or received, as a driver sees it: sizes, flags and ports, neither content nor other times.

    Attributes
    ----------
    flow : int
        The number of its TCP connection at this station, in order of opening; -1 for a frame of none.
    bytes, payload : int
        Its size with headers and without, in bytes.
    syn, fin : bool
        Whether it opens or closes its connection.
    """

    flow: int
    bytes: int
    payload: int
    syn: bool
    fin: bool


class RadioPower(NamedTuple):
    """Power of the station's radio awake and asleep, in watts, and the energy to hear a beacon, in joules."""

    awake_w: float = 0.75
    asleep_w: float = 0.05
    beacon_j: float = 0.0015


class Dtim(NamedTuple):
    """Beacons that group frames follow: every ``period``-th; ``rounding`` of listen intervals to them."""

    period: int = 1
    rounding: str = "none"

    def interval(self, listen_interval: int) -> int:
        """Return a listen interval in beacons as the station keeps it, at least one DTIM period if rounded.

        nRF70 rounds down (10 at a period of 3 becomes 9), Talaria up (12); their power-save guides.
        """
        if self.rounding == "none":
            return listen_interval
        whole = (
            -(-listen_interval // self.period) if self.rounding == "up" else listen_interval // self.period
        )
        return max(1, whole) * self.period


class Policy(ABC):
    """Policy: decides when the radio sleeps.

    A subclass gives a ``name`` and :meth:`rest`. The arguments of its constructor are its parameters. A
    policy knows no simulator: it is told the time and what the station saw, and answers with a
    :class:`Rest`. Each run has a policy of its own, so a policy can keep state from one question to the
    next; one made in Python is copied for each run.
    """

    name: ClassVar[str] = ""
    beacon_s: float = 0.1
    """The beacon interval in seconds; beacon k is sent at k * ``beacon_s``. Set by :meth:`start`."""
    # Not "beacons": a policy's own parameter may well have that name, and start() would overwrite it.
    beacon_grid: Beacons = Beacons(0.1)
    """The numbers and times of these beacons. Set by :meth:`start`."""
    power: RadioPower = RadioPower()
    """Power of the station's radio. Set before :meth:`start`, unless the name is used otherwise."""

    dtim: Dtim = Dtim()
    """Which beacons are DTIM beacons: those whose numbers the period divides. Set before :meth:`start`."""

    flows: StationRequests | None = None
    """What the station keeps for it, so that it need not be told of each frame; None: it is told."""

    @property
    def service(self) -> ServicePeriod | None:
        """The rule of its service periods; None: what is held is fetched at once when the radio wakes."""
        return None

    def config(self) -> dict[str, Any]:
        """Return the parameters as plain values, for the result."""
        return values_of(self)

    def start(self, beacon_s: float) -> None:
        """Begin a run on an access point whose beacons are *beacon_s* seconds apart."""
        self.beacon_s, self.beacon_grid = beacon_s, Beacons(beacon_s)

    @abstractmethod
    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Say how to rest, now that the link has become idle.

        Parameters
        ----------
        now_s
            The time since the start of the run, in seconds.
        since_uplink_s
            The time since the last uplink packet was handed to the radio, or since the start, in seconds.
        poll
            What the station saw if it last woke for a beacon; ``None`` if it last woke, or stayed awake,
            for an uplink packet.
        """

    def uplink(self, now_s: float) -> None:  # noqa: B027 (an optional hook)
        """Take note that a packet is sent uplink at *now_s* seconds; optional."""

    def sent(self, now_s: float, frame: Frame) -> None:  # noqa: B027 (an optional hook)
        """Take note of a frame handed to the radio at *now_s*, after :meth:`uplink`; optional."""

    def received(self, now_s: float, frame: Frame) -> None:  # noqa: B027 (an optional hook)
        """Take note of a frame received at *now_s*, before the station reacts to it; optional."""

    def interrupted(self, poll: Poll) -> None:  # noqa: B027 (an optional hook)
        """Take note that an uplink packet has cut a doze short, and what was held then; optional."""

    def wants(self, hook: str) -> bool:
        """Say whether its class has the optional *hook*, ``sent`` or ``received``, to be called."""
        return getattr(type(self), hook) is not getattr(Policy, hook)

    def finish(self) -> None:  # noqa: B027 (an optional hook)
        """Take note that the run is over; optional. Not called if the run fails or is interrupted."""

    def report(self) -> dict[str, float]:
        """Return what the policy itself counted or measured in the run, by name with its unit; optional."""
        return {}
