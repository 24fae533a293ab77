"""Random crowds: stations that share a channel, with faults; every page ends and the laws hold.

The tests try 30 crowds, half of them with every fault switched on at once. ``PSM_SIM_RANDOM_WORLDS=2000``
tries 600, and any other number in proportion.
"""

from __future__ import annotations

import io
import os
from dataclasses import replace
from itertools import pairwise
from unittest.mock import patch

import pytest

from psm_sim.common.errors import InputError
from psm_sim.network import PageError, build_world, load_topology
from psm_sim.network.build import bss_of
from psm_sim.network.parts.capture import capture_observers
from psm_sim.network.world import WorldGroup
from psm_sim.policies import make_policy
from tests.network.laws import balance
from tests.network.parts.capture.sniffed import records
from tests.network.parts.mac.random_air import POLICIES, Witness, awake_throughout, page_of, settings_of
from tests.network.test_random_worlds import FAULTS, TIMES, Budget, Draw, messages_of

CROWDS = int(os.environ.get("PSM_SIM_RANDOM_WORLDS", "100")) * 3 // 10
PART = 3
UNKNOWN = ("access_point.idle_limit_s", "access_point.ageing_s")
"""Faults that the channel model lacks."""


def faults_of(draw, some):
    chosen = {key: drawn(draw) for key, drawn in FAULTS.items() if key not in UNKNOWN}
    enabled = {key: value for key, value in chosen.items() if not some or draw.one_of(True, False, False)}
    times = {key: drawn(draw) for key, drawn in TIMES.items()}
    errors = {
        "mac.frame_error_rate": draw.one_of(0.0, 0.02, 0.2),
        "mac.loss_run": draw.one_of(None, 3.0),
        "station.missed_beacon": draw.one_of("doze", "stay-awake"),
    }
    return {**enabled, **times, **errors}


class Stations:
    """Worlds, pages and witnesses of the stations of a crowd, with *every* fault or some."""

    def __init__(self, number, every, policies=(), watched=()):
        draw = Draw(number)
        self.settings = {
            **settings_of(draw.random),
            **faults_of(draw, some=not every),
        }
        self.topology, count = (
            replace(load_topology("three-node", self.settings), seed=number),
            draw.whole(2, 6),
        )
        drawn = [str(draw.one_of(*POLICIES)) for _ in range(count)]
        self.policies = policies or drawn
        self.pages = [[page_of(draw.random) for _ in range(draw.whole(1, 3))] for _ in range(count)]
        self.messages = [messages_of(draw) for _ in range(count)]
        self.which = f"crowd {number}: {self.policies}, {self.settings}"
        self.witnesses, bss = [Witness() for _ in range(count)], bss_of(self.topology)
        more = watched or [()] * count
        self.worlds = [
            build_world(
                replace(self.topology, station_name=str(k)), make_policy(policy), [witness, *extra], bss
            )
            for k, (policy, witness, extra) in enumerate(
                zip(self.policies, self.witnesses, more, strict=False)
            )
        ]

    def run(self):
        """Load all pages; return the message of a failure, or an empty text."""
        budget = Budget()
        budget.left = 400_000
        try:
            with patch("psm_sim.network.world.run_events", budget.fire):
                WorldGroup(self.worlds).run(self.pages, self.messages, lambda _: None)
        except PageError as failed:
            return str(failed)
        except Exception as error:
            raise AssertionError(f"{self.which}: {error!r}") from error
        return ""


def check(number, every):
    stations = Stations(number, every)
    failed = stations.run()
    which = stations.which
    assert not failed or not every, (which, failed)
    for world, witness, pages in zip(stations.worlds, stations.witnesses, stations.pages, strict=True):
        assert failed or len(world.visits) == len(pages), which
        balance(world, which)
        awake_throughout(witness, which)
        assert all(world.beacons.on(time_s) for time_s in witness.heard), which
    frames = sorted(frame for witness in stations.witnesses for frame in witness.frames)
    for earlier, later in pairwise(frames):
        assert later == earlier or later[0] > earlier[1] - 1e-9, which  # times are equal in an A-MPDU
    return stations


@pytest.mark.parametrize("part", range(PART))
@pytest.mark.parametrize("every", [False, True])
def test_a_run_of_a_random_crowd_ends_and_obeys_the_laws(part, every):
    """Time, energy and bytes add up; no dozing station receives; no two frames overlap on the channel."""
    for number in range(part, CROWDS // 2, PART):
        check(2_000_000 + number, every)


def test_a_crowd_is_reproducible():
    """Results are bit-for-bit equal, with every fault."""
    once, again = (check(2_000_003, True) for _ in range(2))
    for one, other in zip(once.worlds, again.worlds, strict=True):
        assert (one.usage(), list(one.visits), one.ends.report()) == (
            other.usage(), list(other.visits), other.ends.report(),
        )  # fmt: skip


@pytest.mark.parametrize("policy", ["always-on", "psm"])
def test_stations_share_restarts_and_have_their_own_losses(policy):
    stations = Stations(2_000_004, True, policies=(policy,) * 6)
    assert not stations.run()
    faults = [world.ends for world in stations.worlds]
    assert len(faults) > 2
    assert len({ends.report()["restarts"] for ends in faults}) == 1
    losses = [ends._losses["wireless up"]._causes[-1] for ends in faults]
    assert len({tuple(lost() for _ in range(3000)) for lost in losses}) == len(faults)


def test_a_crowd_with_every_fault_can_be_captured():
    """The file is in order, and the run equals the one without a capture."""
    file = io.BytesIO()
    alone = check(2_000_002, True)
    count = len(alone.worlds)
    watched = Stations(2_000_002, True, watched=[[record] for record in capture_observers(file, count)])
    assert not watched.run()
    assert [world.usage() for world in watched.worlds] == [world.usage() for world in alone.worlds]
    times = [record.time_ns for record in records(file.getvalue())]
    assert times == sorted(times)
    assert len(times) > 100


def test_settings_that_no_channel_model_supports_are_an_error():
    """The message is one sentence."""
    for key in UNKNOWN:
        with pytest.raises(InputError, match=f"{key}=5 is not supported"):
            build_world(load_topology("three-node", {"mac.model": "dcf", key: 5.0}), make_policy("psm"))
