"""Early wake-ups and timeouts, as in the power-save manager of ns-3 that is not installed yet."""

from __future__ import annotations

import pytest

from benchmarks.peer_manager import ARRIVALS_S, BEACON_MS, SECONDS, ManagerRule, main, simulate
from psm_sim.policies import make_policy


def test_an_ns3_without_the_power_save_manager_is_an_error_of_one_sentence(tmp_path):
    with pytest.raises(SystemExit, match=r"^ns-3 in .* has no DefaultPowerSaveManager; expected ns-3\.48"):
        main(str(tmp_path))


def test_a_station_stays_awake_for_the_timeout_after_each_beacon_or_frame():
    """A beacon of the rule, a frame of ``dynamic``, whose timeout also runs from the start: 10 ms."""
    idle_s = simulate(make_policy("psm"), 0)
    beacons, frames = int(SECONDS * 1000 / BEACON_MS), len(ARRIVALS_S)
    assert simulate(make_policy("dynamic:timeout_ms=10"), 0) - idle_s == pytest.approx(0.01 * (frames + 1))
    assert simulate(ManagerRule(10), 0) - idle_s == pytest.approx(0.01 * (beacons + 1), rel=0.01)
    assert simulate(make_policy("psm"), 5) - idle_s == pytest.approx(0.005 * beacons)
