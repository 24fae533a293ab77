"""State of a radio, and what leads from one to another."""

from __future__ import annotations

from enum import Enum


class State(Enum):
    """State of a radio: awake in all but DOZING.

    ======  ================================  =========================================================
    in      when                              then
    ======  ================================  =========================================================
    BUSY    the link falls idle               asks for a rest: AWAKE if that begins awake, else DOZING
    BUSY    a frame comes late for a poll     DEAF, where late frames wait
    DEAF    the link falls idle               the same, but if awake it fetches what is held: then BUSY
    AWAKE   it sends, or a frame is offered   BUSY
    AWAKE   the wait is over                  DOZING
    DOZING  it hears a beacon that names it   fetches what is held: BUSY
    DOZING  it hears another beacon           DOZING if the rest repeats, else asks for a rest
    DOZING  it sends                          fetches what is held: BUSY; if the port does not
                                              release on uplink, it fetches nothing: DEAF
    ======  ================================  =========================================================
    """

    BUSY = "the link is in use: it sends, or frames are on their way to it"
    DEAF = "the same, but only to send: the access point holds its frames until a beacon"
    AWAKE = "the link is idle: it waits as long as the policy wants before it dozes"
    DOZING = "asleep, but for the beacons that it wakes to hear"


# As globals, since a member looked up in its class takes several times as long.
BUSY, SEND_ONLY, AWAKE, DOZING = State
