"""States of a radio and their transitions."""

from __future__ import annotations

from enum import Enum


class State(Enum):
    """State of a radio, which is awake in all states except DOZING.

    =========  ==================================  ========================================================
    State      Event                               Next state
    =========  ==================================  ========================================================
    BUSY       link becomes idle                   policy decides: AWAKE if the rest begins awake, else
                                                   DOZING
    BUSY       frame arrives too late for a poll   SEND_ONLY, if ``late_frames`` is ``"wait"``
    SEND_ONLY  link becomes idle                   as from BUSY; if the rest begins awake, the radio
                                                   retrieves buffered frames: BUSY
    AWAKE      station transmits, or a frame is    BUSY
               offered
    AWAKE      end of the wait                     DOZING
    DOZING     beacon with the TIM bit set         retrieve buffered frames: BUSY
    DOZING     beacon with the TIM bit not set     DOZING if the rest repeats, else the policy decides
    DOZING     station transmits                   retrieve buffered frames: BUSY; without
                                                   ``release_on_uplink`` retrieve nothing: SEND_ONLY
    =========  ==================================  ========================================================
    """

    BUSY = "the link is in use: the radio transmits, or frames are in transit to it"
    SEND_ONLY = "the radio only transmits: the access point buffers its frames until a beacon"
    AWAKE = "the link is idle: the radio stays awake as long as the policy has decided"
    DOZING = "asleep, except for the beacons that the radio wakes to receive"


# Module globals: enum attribute look-up is several times slower.
BUSY, SEND_ONLY, AWAKE, DOZING = State
