"""Interface of power-save policies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Any, ClassVar, NamedTuple, Protocol

from psm_sim.beacons import Beacons
from psm_sim.common.parameters import values_of
from psm_sim.poll import Poll


class ServicePeriod(NamedTuple):
    """Rules by which an access point delivers buffered frames in service periods.

    A station without service periods retrieves all buffered frames at once.

    Attributes
    ----------
    interval_s : float or None
        Time between scheduled periods, in seconds (TWT). A station with scheduled periods receives no
        beacons. None (U-APSD): a frame of the station requests each period.
    duration_s : float
        Maximum length of a period, in seconds. Frames that do not fit wait for the next period.
    frames : int
        Maximum number of frames in a period; 0 disables the limit.
    asks : bool
        Whether the station must send a null data frame before the delivery, as a trigger or an announcement.
    overhead_s : float
        Time awake around each scheduled period, in seconds.
    uplink_waits : bool
        Whether uplink packets wait for the next scheduled period.
    """

    interval_s: float | None = None
    duration_s: float = inf
    frames: int = 0
    asks: bool = True
    overhead_s: float = 0.0
    uplink_waits: bool = False


class Plan(Protocol):
    """Dozes that a policy plans for beacons at which no frame is buffered.

    A station can follow the plan, and call :meth:`followed` at its end. It can also ignore the plan, and call
    :meth:`Policy.rest` at each beacon. The policy must decide the same in both cases.
    """

    def dozes(self) -> Iterator[tuple[int, float]]:
        """Yield the dozes in order, as pairs (beacons per doze, number of such dozes).

        The number of dozes can be ``inf``.
        """

    def followed(self, heard: int, until: int) -> None:
        """Handle the end of the plan. The station ignores the dozes that are left.

        Parameters
        ----------
        heard : int
            Number of dozes of the plan that the station began, at least 1.
        until : int
            Number of the beacon at which the last of these dozes ends, or would have ended without an
            interruption.
        """


@dataclass(frozen=True, slots=True)
class Rest:
    """Sleep decision of a policy: stay awake for a while, then doze until a beacon.

    Attributes
    ----------
    awake_s : float
        Time to stay awake before the doze, in seconds; ``inf`` keeps the radio awake.
    beacons : int
        Length of the doze, in beacons. With 1, the radio wakes at the first beacon after the doze has begun.
    repeat : bool
        Whether the same doze follows after every beacon at which no frame is buffered. The policy is then not
        called again until a frame is sent or received. Requires ``awake_s`` = 0.
    plan : Plan or None
        Later dozes, of different lengths, for beacons at which no frame is buffered; None for no plan.
    """

    awake_s: float = 0.0
    beacons: int = 1
    repeat: bool = False
    plan: Plan | None = field(default=None, compare=False)


class Frame(NamedTuple):
    """Headers of a frame that the station sent or received, as its driver sees them.

    The content of the frame is not available.

    Attributes
    ----------
    flow : int
        Number of the frame's TCP connection at this station, in the order of opening; -1 if it has none.
    bytes, payload : int
        Size with and without headers, in bytes.
    syn, fin : bool
        Whether the frame opens or closes its connection.
    mss : int
        Maximum payload of a segment, in bytes, if the frame is a SYN: the MSS option, minus the size of a
        time stamp option. 0 if unknown or not a SYN.
    group : bool
        Whether the frame is group addressed, so that it does not answer any frame of the station.
    """

    flow: int
    bytes: int
    payload: int
    syn: bool
    fin: bool
    mss: int = 0
    group: bool = False


class RadioPower(NamedTuple):
    """Power and energy of the station's radio.

    Attributes
    ----------
    awake_w, asleep_w : float
        Power awake and asleep, in watts.
    beacon_j : float
        Energy to receive one beacon, in joules.
    """

    awake_w: float = 0.75
    asleep_w: float = 0.05
    beacon_j: float = 0.0015


class Dtim(NamedTuple):
    """DTIM beacons, after which group addressed frames are sent.

    Attributes
    ----------
    period : int
        DTIM period. Every ``period``-th beacon is a DTIM beacon.
    """

    period: int = 1


class Policy(ABC):
    """Base class of power-save policies, which decide when the radio sleeps.

    A subclass defines a ``name`` and :meth:`rest`. The arguments of its constructor are its parameters, which
    can be set from the command line. All other methods are optional hooks.

    A policy does not depend on the simulator. It receives the time and the observations of its station, and
    returns a :class:`Rest`. It can keep state between calls, because each run has its own instance. A policy
    that needs a connection, a process or a file opens it in :meth:`start` and closes it in :meth:`finish`, so
    that it can be copied before a run.

    Examples
    --------
    >>> class EveryThird(Policy):
    ...     name = "every-third"
    ...
    ...     def rest(self, now_s, since_uplink_s, poll):
    ...         return Rest(beacons=3)
    >>> EveryThird().rest(0.0, 0.0, None).beacons
    3
    """

    name: ClassVar[str] = ""
    beacon_s: float = 0.1
    """Beacon interval in seconds. Beacon k is sent at k * ``beacon_s``. Set by :meth:`start`."""
    # Not named "beacons", because start() would overwrite a subclass's parameter of that name.
    beacon_grid: Beacons = Beacons(0.1)
    """Numbers and times of the beacons. Set by :meth:`start`."""
    power: RadioPower = RadioPower()
    """Power of the station's radio. Set before :meth:`start`, unless a subclass uses the name otherwise."""

    dtim: Dtim = Dtim()
    """DTIM period, which divides the numbers of the DTIM beacons. Set before :meth:`start`."""

    @property
    def service(self) -> ServicePeriod | None:
        """Rules of the service periods, or None if buffered frames are retrieved at each wake-up."""
        return None

    def config(self) -> dict[str, Any]:
        """Return the parameters as plain values, for the result."""
        return values_of(self)

    def start(self, beacon_s: float) -> None:
        """Handle the start of a run (optional hook).

        A subclass that overrides this method must call it through ``super()``.

        Parameters
        ----------
        beacon_s : float
            Beacon interval of the access point, in seconds.
        """
        self.beacon_s, self.beacon_grid = beacon_s, Beacons(beacon_s)

    @abstractmethod
    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Return the sleep decision when the link is idle.

        Parameters
        ----------
        now_s : float
            Time since the start of the run, in seconds.
        since_uplink_s : float
            Time since the last uplink packet was queued at the radio, or since the start, in seconds.
        poll : Poll or None
            Observation at the beacon for which the radio woke. None after an uplink packet, which wakes the
            radio or keeps it awake.

        Returns
        -------
        Rest
            Time to stay awake and number of beacons to doze.
        """

    def uplink(self, now_s: float) -> None:  # noqa: B027 (an optional hook)
        """Handle an uplink packet at *now_s*, in seconds (optional hook)."""

    def sent(self, now_s: float, frame: Frame) -> None:  # noqa: B027 (an optional hook)
        """Handle a *frame* queued at the radio at *now_s*, in seconds (optional hook).

        Called after :meth:`uplink`.
        """

    def received(self, now_s: float, frame: Frame) -> None:  # noqa: B027 (an optional hook)
        """Handle a *frame* received at *now_s*, in seconds (optional hook).

        Called before the station reacts to the frame.
        """

    def interrupted(self, poll: Poll) -> None:  # noqa: B027 (an optional hook)
        """Handle a doze that an uplink packet interrupted (optional hook).

        Parameters
        ----------
        poll : Poll
            Observation at the interruption: the time slept, and the frames that the access point had
            buffered.
        """

    def wants(self, hook: str) -> bool:
        """Return whether the policy overrides the *hook* ``"uplink"``, ``"sent"`` or ``"received"``.

        The station does not call a hook that is not overridden.
        """
        return getattr(type(self), hook) is not getattr(Policy, hook)

    def finish(self) -> None:  # noqa: B027 (an optional hook)
        """Handle the end of a run (optional hook).

        Not called if the run fails or is interrupted.
        """

    def report(self) -> dict[str, float]:
        """Return the policy's own measurements, by name with unit (optional hook)."""
        return {}


def describe_radio(policy: Policy, power: RadioPower, dtim: Dtim) -> None:
    """Set the attributes ``power`` and ``dtim`` of *policy*, before it is started.

    An attribute ``power`` or ``dtim`` of another type belongs to the subclass and is not changed.
    """
    if isinstance(policy.power, RadioPower):
        policy.power = power
    if isinstance(policy.dtim, Dtim):
        policy.dtim = dtim
