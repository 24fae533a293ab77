"""Timelines: valid Chrome traces in which every track says what the run did."""

from __future__ import annotations

import io
import json
from itertools import pairwise
from typing import Any

import pytest

import psm_sim
from psm_sim.network import Observer
from psm_sim.policies import Policy, Rest, make_policy
from psm_sim.policies.user_policy_guard import guarded_policy
from psm_sim.simulation.perfetto import write_perfetto
from psm_sim.simulation.recorder import Recorder
from tests.network.parts.capture.sniffed import run
from tests.page_rows import page_rows

POLICIES = ["always-on", "psm:listen_interval=2", "bsd:p=0.5", "lpsm", "anticipate", "uapsd", "twt"]
REQUIRED = {"X": {"pid", "tid", "name", "ts", "dur", "args"}, "C": {"pid", "name", "ts", "args"}}


class Told(Observer):
    """Keeps what the timeline is told too."""

    def __init__(self):
        self.radios, self.answers, self.holds = [(0.0, True)], [], [(0.0, 0)]

    def radio(self, time_s, awake):
        self.radios.append((time_s, awake))

    def decision(self, time_s, poll, rest):
        self.answers.append((time_s, rest))

    def buffered(self, time_s, frames, retrieved):
        self.holds.append((time_s, frames))


def drawn(policy: str | Policy = "psm", **more: Any):
    """Return a world after its run, what else was told, and the events of its timeline."""
    file, told, recorder = io.BytesIO(), Told(), Recorder()
    world = run(policy, observers=[recorder, told], **more)
    write_perfetto(file, [recorder])
    return world, told, json.loads(file.getvalue())["traceEvents"]


def tracks(events):
    """Return the slices of each track, by its name."""
    names = {each["tid"]: each["args"]["name"] for each in events if each["name"] == "thread_name"}
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in names.values()}
    for each in events:
        if each["ph"] == "X":
            found[names[each["tid"]]].append(each)
    return found


def counter(events, name):
    return [(each["ts"], each["args"]) for each in events if each["ph"] == "C" and each["name"] == name]


def spans(slices):
    """Return begin and end of slices, in seconds."""
    return [(each["ts"] / 1e6, (each["ts"] + each["dur"]) / 1e6) for each in slices]


@pytest.mark.parametrize("policy", POLICIES)
def test_it_is_a_chrome_trace_whose_slices_do_not_overlap_on_a_track(policy):
    """Every event has what its phase needs; on a track one slice ends before the next begins."""
    _, _, events = drawn(policy)
    assert {each["ph"] for each in events} == {"M", "X", "C"}
    for each in events:
        assert REQUIRED.get(each["ph"], {"pid", "tid", "name", "args"}) <= set(each)
    for slices in tracks(events).values():
        assert all(one[1] <= other[0] + 1e-9 for one, other in pairwise(spans(slices)))


@pytest.mark.parametrize("policy", ["psm", "lpsm", "bsd:p=0.5"])
def test_the_radios_track_and_the_power_add_up_to_the_ledger(policy):
    """Time awake and asleep, and the joules of both."""
    world, _, events = drawn(policy)
    slices, usage = tracks(events)["radio"], world.usage()
    for name, seconds in (("awake", usage.awake_s), ("dozing", usage.asleep_s)):
        found = sum(each["dur"] for each in slices if each["name"] == name) / 1e6
        assert found == pytest.approx(seconds, abs=1e-3)
    steps = [(ts / 1e6, args["W"]) for ts, args in counter(events, "power (W)")]
    joules = sum(watts * (then - at) for (at, watts), (then, _) in pairwise([*steps, (world.env.now, 0.0)]))
    assert joules == pytest.approx(usage.awake_j + usage.asleep_j, rel=1e-6)
    heard = sum(each["args"]["count"] for each in tracks(events)["beacons received"])
    assert heard == usage.beacons


def test_pages_stand_from_request_to_end():
    """As the world has them."""
    world, _, events = drawn("lpsm", pages=8)
    visits = [visit for visit, _ in world.visits]
    expected = [pytest.approx((each.started_s, each.ended_s), abs=1e-6) for each in visits]
    assert spans(tracks(events)["pages"]) == expected


ON_AIR = {"mac__model": "dcf"}


@pytest.mark.parametrize(
    "settings", [{}, {"browser__persistent": True}, {"access_point__buffer_frames": 6}, ON_AIR]
)
def test_every_object_of_every_page_is_one_transfer_within_its_page(settings):
    """Also on connections that are kept, and where frames are lost on the way."""
    world, _, events = drawn("psm", pages=8, **settings)
    found = tracks(events)
    transfers = [each for name, slices in found.items() if name.startswith("transfers") for each in slices]
    pages = [visit.page for visit, _ in world.visits]
    sizes = sorted(size for page in pages for size in (page.main_bytes, *page.image_bytes))
    assert sorted(int(each["name"].split()[2].replace(",", "")) for each in transfers) == sizes
    within = spans(found["pages"])
    assert all(any(a <= b and c <= d + 1e-9 for a, d in within) for b, c in spans(transfers))
    assert max(each[1] for each in spans(transfers)) == pytest.approx(within[-1][1], abs=1e-6)


def test_decisions_are_the_policys_answers_each_until_the_next():
    """With what it saw; the polling time is a counter."""
    _, told, events = drawn("bsd:p=0.5")
    slices = tracks(events)["policy"]
    assert [each["ts"] for each in slices] == [pytest.approx(1e6 * at_s, abs=1) for at_s, _ in told.answers]
    times = {args["ms"] for _, args in counter(events, "polling time (ms)")}
    assert times == {100 * rest.beacons for _, rest in told.answers}


@pytest.mark.parametrize("settings", [{}, ON_AIR])
def test_held_frames_are_counted(settings):
    """Each change, as the access point tells it."""
    _, told, events = drawn("psm", **settings)
    expected = [(pytest.approx(1e6 * at_s, abs=1), {"frames": frames}) for at_s, frames in told.holds]
    assert counter(events, "buffered frames") == expected
    assert max(frames for _, frames in told.holds) > 1
    assert told.holds[-1][1] == 0


def test_the_weights_of_a_learner_are_counters_also_behind_a_guard():
    """One series for each polling time; they add up to 1."""
    for policy in (make_policy("lpsm:loss=inverse"), guarded_policy(make_policy("lpsm:loss=inverse"))):
        _, _, events = drawn(policy, pages=10)
        weights = [args for _, args in counter(events, "weights")]
        assert len(weights) > 3
        assert list(weights[0]) == [f"{time} ms" for time in range(100, 1300, 100)]
        assert all(sum(each.values()) == pytest.approx(1, abs=1e-3) for each in weights)
        assert weights[0] != weights[-1]


def test_messages_and_datagrams_are_transfers_too():
    """Those of a sensor, and pings."""
    for trace, kind in (("mqtt", "message"), ("ping", "datagram")):
        _, _, events = drawn("psm", trace=trace, pages=1)
        names = [
            each["name"]
            for name, slices in tracks(events).items()
            if name[:9] == "transfers"
            for each in slices
        ]
        assert any(name.startswith(f"{kind} from the station") for name in names)
        assert any(name.startswith(f"{kind} to the station") for name in names)


def test_a_policy_without_rests_and_a_run_without_pages_are_drawn():
    """An answer that never ends is one slice."""

    class Awake(Policy):
        name = "awake"

        def rest(self, now_s, since_uplink_s, poll):
            return Rest(awake_s=float("inf"))

    _, _, events = drawn(Awake(), trace="push", pages=1)
    assert {each["name"] for each in tracks(events)["policy"]} == {"stay awake"}
    assert tracks(events)["pages"] == []


def test_the_dataframe_has_the_transfers_and_the_buffered_frames_too():
    """Every byte of the pages, and as many frames as the access point says."""
    result = psm_sim.simulate("psm", pages=3)
    events = psm_sim.timeline(result)
    replies = events[(events["event"] == "transfer") & (events["kind"] == "reply")]
    assert replies["bytes"].sum() == sum(page.bytes for page in page_rows(result))
    assert events[events["event"] == "buffered"]["buffered_frames"].iloc[-1] == 0
    assert events["time_s"].is_monotonic_increasing
