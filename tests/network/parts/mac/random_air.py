"""Random settings, pages and policies of stations on a channel, and a law of their frames."""

from __future__ import annotations

from psm_sim.network import Observer
from psm_sim.network.topology_sections import RATES_MBPS
from psm_sim.workload.page_view import Page

POLICIES = (
    "always-on", "psm", "psm:listen_interval=3", "bsd:p=0.3", "bsd:p=2", "lpsm:loss=inverse", "lpsm",
    "dynamic", "anticipate",
)  # fmt: skip


class Witness(Observer):
    """Record the dozes of the radio, its beacons, and the times of frames on the channel."""

    def __init__(self):
        self.changes, self.heard, self.frames = [(0.0, True)], [], []

    def radio(self, time_s, awake):
        self.changes.append((time_s, awake))

    def beacons(self, first_s, count, every_s):
        self.heard += [first_s + number * every_s for number in range(count)]

    def frame(self, link, queued_s, arrives_s, segment):
        if link.name.startswith("wireless"):
            self.frames.append((queued_s, arrives_s))


def settings_of(random):
    standard = str(random.choice(list(RATES_MBPS)))
    return {
        "mac.model": "dcf",
        "mac.standard": standard,
        "mac.data_mbps": float(random.choice(RATES_MBPS[standard])),
        "mac.preamble": str(random.choice(["long", "short"])),
        "mac.qos": bool(random.integers(2)),
        "mac.fetch": str(random.choice(["ps-poll", "null"])),
        "access_point.release_on_uplink": bool(random.integers(2)),
        "access_point.buffer_frames": int(random.choice([2, 10, 256])),
        "beacon.interval_ms": float(random.choice([20.0, 100.0, 102.4, 1000.0])),
        "station.wake_ms": float(random.choice([0.0, 2.0])),
        "links.wired.latency_ms": float(random.choice([0.1, 20.0, 300.0])),
        "links.wired.rate_mbps": float(random.choice([0.5, 10.0, 1000.0])),
        "tcp.max_window": int(random.choice([1, 8, 44])),
        "tcp.delayed_ack_ms": float(random.choice([0.0, 100.0])),
        "browser.persistent": bool(random.integers(2)),
    }


def page_of(random):
    images = tuple(int(size) for size in random.integers(1, 60_000, random.integers(5)))
    count = 1 + len(images)
    delays = tuple(float(random.choice([0.0, 0.4])) for _ in range(count))
    return Page(
        float(random.uniform(0.001, 20)), int(random.integers(1, 100_000)), images, (300,) * count, delays
    )


def awake_throughout(witness, which):
    """Check that no frame passes while the radio dozes.

    No two frames overlap on the channel, unless they belong to the same A-MPDU.
    """
    changes = sorted(witness.changes, key=lambda change: change[0])
    assert changes == witness.changes, which
    dozes = [
        (start, end)
        for (start, awake), (end, _) in zip(changes, [*changes[1:], (float("inf"), True)], strict=True)
        if not awake
    ]
    next_doze = 0
    for start_s, end_s in witness.frames:
        while next_doze < len(dozes) and dozes[next_doze][1] <= start_s + 1e-9:
            next_doze += 1
        assert next_doze == len(dozes) or dozes[next_doze][0] >= end_s - 1e-9, which
    for earlier, later in zip(witness.frames, witness.frames[1:], strict=False):
        assert later == earlier or later[0] > earlier[1], which
