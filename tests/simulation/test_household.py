"""Idle device in a home network: trace ``idle`` and preset ``household``, computed by hand."""

from __future__ import annotations

import re
from math import exp
from pathlib import Path

import numpy as np
import pytest

from psm_sim.network import Observer
from psm_sim.network.chip_profiles import load_profile
from psm_sim.network.segment import GROUP
from psm_sim.simulation import Result, simulate
from psm_sim.simulation.preset import load_preset
from psm_sim.workload import load_workload

SETTINGS = load_preset("household").settings
FRAMES_AN_HOUR = {"arp": (10 * 3600 / 60, 46), "mdns": (3 * 2 * 3600 / 96, 172), "router": (3600 / 400, 128)}
"""Hourly group addressed frames and their bytes, of ten devices, three mDNS services and one router."""
TU_S = 1024e-6
SCENE = "three-node"
"""Topology without lost beacons, unlike the network around a chip."""


PAGE = Path(__file__).resolve().parents[2] / "docs" / "traces.md"
DOCUMENTED = {
    int(dtim): currents.split(" | ")
    for dtim, currents in re.findall(r"^\| (\d+) \| ([\d. |]+) \|$", PAGE.read_text(encoding="utf-8"), re.M)
}
"""Mean currents in mA by DTIM period: without traffic, with the IP stack, and in the home network."""


def alone(dtim: int) -> list[Result]:
    """Simulate the chip without traffic, and with the traffic of its IP stack."""
    settings = {"beacon.interval_ms": 102.4, "beacon.dtim_period": dtim}
    return [
        simulate("dynamic:stack=esp-idf", trace, SCENE, 24, profile="esp32-c3", settings=settings)
        for trace in ("idle:on=false", "idle")
    ]


def run(hours: int, dtim: int, observer: Observer | None = None, trace: str | None = None) -> Result:
    """Simulate an ESP32-C3 with the driver of its vendor."""
    return simulate(
        "dynamic:stack=esp-idf",
        trace,
        SCENE,
        hours,
        preset="household",
        profile="esp32-c3",
        settings={"beacon.interval_ms": 102.4, "beacon.dtim_period": dtim},
        observers=[observer] if observer else [],
    )


def test_an_idle_device_sends_the_messages_of_its_ip_stack():
    """Per day: an ARP per minute, four renewals of a lease of 12 h, and a TCP keep-alive every two hours."""
    messages = load_workload("idle", 24, 3).messages
    assert messages.uplink.all()
    sizes, counts = np.unique(
        [(message.bytes, message.reply_bytes) for message in messages], axis=0, return_counts=True
    )
    assert dict(zip(map(tuple, sizes.tolist()), counts.tolist(), strict=True)) == {
        (46, 0): 24 * 60,
        (328, 328): 4,
        (41, 40): 12,
    }


def test_rate_and_size_of_group_addressed_frames_follow_from_their_protocols():
    """The preset has 834 such frames per hour, with their mean size."""
    rates, sizes = zip(*FRAMES_AN_HOUR.values(), strict=True)
    assert sum(rates) == 834
    assert SETTINGS["access_point.group_per_s"] == pytest.approx(sum(rates) / 3600, abs=1e-4)
    assert SETTINGS["access_point.group_bytes"] == round(np.average(sizes, weights=rates))


@pytest.mark.parametrize("trace", [None, "mqtt"])
def test_group_addressed_frames_follow_only_dtim_beacons_for_every_kind_of_traffic(trace):
    """The number of DTIM beacons with frames is within 3 standard deviations of the expected one."""

    class GroupTimes(Observer):
        def __init__(self) -> None:
            self.times_s: list[float] = []

        def frame(self, link, queued_s, arrives_s, segment) -> None:
            if segment.connection is GROUP:
                self.times_s.append(queued_s)

    observer = GroupTimes()
    result = run(2, 10, observer, trace)
    expected = 2 * sum(rate for rate, _ in FRAMES_AN_HOUR.values())
    assert len(observer.times_s) == pytest.approx(expected, abs=3 * expected**0.5)
    numbers = np.array(observer.times_s) / (1000 * TU_S)
    assert numbers == pytest.approx(np.round(numbers), abs=1e-9)
    assert result["policy_report.group frames missed"] == 0


@pytest.mark.parametrize("dtim", [1, 10])
def test_the_current_equals_the_hand_computed_current(dtim):
    """The current is within 1 % of that of beacons, and of 50 ms awake after a DTIM beacon or a message.

    Poisson frames follow a DTIM beacon, and the radio is awake until 50 ms after the last of them. A message
    of the device keeps the radio awake for 50 ms, and its reply for one round trip more. Both are rare, so
    their times add up. The documented table has these currents.
    """
    power = load_profile("esp32-c3").values
    interval_s, rate = dtim * 100 * TU_S, SETTINGS["access_point.group_per_s"]
    frame_s = SETTINGS["access_point.group_bytes"] * 8 / 1e6
    awake = (1 - exp(-rate * interval_s)) * 0.05 / interval_s + rate * frame_s
    awake += 0.05 / 60 + (0.05 + 0.04) * (1 / 21600 + 1 / 7200)
    by_hand_w = power["power.asleep_w"] * (1 - awake) + power["power.awake_w"] * awake
    by_hand_w += power["power.beacon_j"] / interval_s
    result = run(24, dtim)
    assert result["mean_power_mw"] / 1000 == pytest.approx(by_hand_w, rel=0.01)
    assert DOCUMENTED[dtim] == [f"{run_['mean_current_ma']:.2f}" for run_ in (*alone(dtim), result)]
