"""Lower bound on the energy of any policy in the simulator, given its run time."""

from __future__ import annotations

from collections.abc import Sequence

from psm_sim.network import Topology
from psm_sim.workload.page_view import Page


def energy_lower_bound_j(pages: Sequence[Page], topology: Topology, run_s: float) -> float:
    """Return a lower bound on the energy in joules of any policy whose run takes *run_s* seconds.

    Every second of a run is spent awake or asleep, and beacons cost additional energy:
    E = asleep_w (run_s - awake_s) + awake_w awake_s + beacon_j beacons. A policy can receive no beacons,
    because it can stay awake. However, a frame is received only while the radio is awake, and downlink
    frames pass the wireless hop one after the other. So awake_s is at least the transmission time air_s of
    all object bytes, without headers and retransmissions. If asleep_w <= awake_w, the energy is therefore at
    least asleep_w run_s + (awake_w - asleep_w) air_s.

    In contrast to the frontier of a chain (:func:`psm_sim.hindsight.offline_optimum.offline_frontier`),
    the bound does not depend on how a delay affects the rest of a page. It uses the run time of the policy.

    Parameters
    ----------
    pages : sequence of Page
        The pages that the run loaded.
    topology : Topology
        The resolved topology, with the powers in W and the bit rate of the wireless hop.
    run_s : float
        Time from the start of the run to the end of its last page, in seconds.

    Returns
    -------
    float
        Lower bound, in joules.
    """
    bits = 8 * sum(page.total_bytes for page in pages)
    air_s = bits / (1e6 * topology.wireless.rate_mbps)
    power = topology.power
    return power.asleep_w * run_s + max(0.0, power.awake_w - power.asleep_w) * air_s
