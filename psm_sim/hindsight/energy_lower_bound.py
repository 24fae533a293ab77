"""Floor: energy that no policy can go below in the simulator, at the page times that it has."""

from __future__ import annotations

from collections.abc import Sequence

from psm_sim.network import Topology
from psm_sim.workload.page_view import Page


def energy_lower_bound_j(pages: Sequence[Page], topology: Topology, run_s: float) -> float:
    """Return the least energy in joules of a run of any policy that takes *run_s* seconds.

    Every second of a run is spent awake or asleep, and beacons cost energy on top, so that the energy is
    asleep_w (run_s - awake_s) + awake_w awake_s + beacon_j beacons. No beacon need be heard: a policy can
    stay awake. But a frame is received only while the radio is awake, and frames for the station pass
    one after the other over the wireless hop; so awake_s is at least the time on the air of the bytes of
    all objects, headers and retransmissions not counted. For asleep_w <= awake_w the energy is therefore
    at least asleep_w run_s + (awake_w - asleep_w) air_s. Unlike the frontier of a chain
    (:func:`psm_sim.hindsight.offline_optimum.offline_frontier`) it holds whatever a delay does to the rest of a page: the
    time of the run is the policy's own.

    Parameters
    ----------
    pages : sequence of Page
        The pages that the run loaded.
    topology : Topology
        The scenario: powers in W, and the wireless hop's bit rate.
    run_s : float
        The time from the start of the run to the end of its last page, in seconds.
    """
    bits = 8 * sum(page.total_bytes for page in pages)
    air_s = bits / (1e6 * topology.wireless.rate_mbps)
    power = topology.power
    return power.asleep_w * run_s + max(0.0, power.awake_w - power.asleep_w) * air_s
