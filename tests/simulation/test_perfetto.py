"""Timelines: valid Chrome traces whose tracks agree with the run."""

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


class Reference(Observer):
    """Record the events that the timeline also receives."""

    def __init__(self):
        self.radios, self.answers, self.holds = [(0.0, True)], [], [(0.0, 0)]

    def radio(self, time_s, awake):
        self.radios.append((time_s, awake))

    def decision(self, time_s, poll, rest):
        self.answers.append((time_s, rest))

    def buffered(self, time_s, frames, retrieved):
        self.holds.append((time_s, frames))


def timeline_of(policy: str | Policy = "psm", **more: Any):
    """Return a world after its run, a reference observer, and the events of its timeline."""
    file, reference, recorder = io.BytesIO(), Reference(), Recorder()
    world = run(policy, observers=[recorder, reference], **more)
    write_perfetto(file, [recorder])
    return world, reference, json.loads(file.getvalue())["traceEvents"]


def tracks(events):
    """Return the slices of each track, by its name."""
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    slices: dict[str, list[dict[str, Any]]] = {name: [] for name in names.values()}
    for event in events:
        if event["ph"] == "X":
            slices[names[event["tid"]]].append(event)
    return slices


def counter(events, name):
    return [(event["ts"], event["args"]) for event in events if event["ph"] == "C" and event["name"] == name]


def spans(slices):
    """Return start and end of each slice, in seconds."""
    return [(piece["ts"] / 1e6, (piece["ts"] + piece["dur"]) / 1e6) for piece in slices]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_timeline_is_a_chrome_trace_without_overlapping_slices(policy):
    """Every event has the members of its phase; on a track a slice ends before the next begins."""
    _, _, events = timeline_of(policy)
    assert {event["ph"] for event in events} == {"M", "X", "C"}
    for event in events:
        assert REQUIRED.get(event["ph"], {"pid", "tid", "name", "args"}) <= set(event)
    for slices in tracks(events).values():
        assert all(one[1] <= other[0] + 1e-9 for one, other in pairwise(spans(slices)))


@pytest.mark.parametrize("policy", ["psm", "lpsm", "bsd:p=0.5"])
def test_the_tracks_of_radio_and_power_add_up_to_the_ledger(policy):
    """Time and energy are compared, awake and asleep."""
    world, _, events = timeline_of(policy)
    slices, usage = tracks(events)["radio"], world.usage()
    for name, seconds in (("awake", usage.awake_s), ("dozing", usage.asleep_s)):
        total_s = sum(event["dur"] for event in slices if event["name"] == name) / 1e6
        assert total_s == pytest.approx(seconds, abs=1e-3)
    steps = [(ts / 1e6, args["W"]) for ts, args in counter(events, "power (W)")]
    joules = sum(watts * (then - at) for (at, watts), (then, _) in pairwise([*steps, (world.env.now, 0.0)]))
    assert joules == pytest.approx(usage.awake_j + usage.asleep_j, rel=1e-6)
    heard = sum(event["args"]["count"] for event in tracks(events)["beacons received"])
    assert heard == usage.beacons


def test_the_slice_of_a_page_lasts_from_its_request_to_its_end():
    """The world has the same times."""
    world, _, events = timeline_of("lpsm", pages=8)
    visits = [visit for visit, _ in world.visits]
    expected = [pytest.approx((loaded.started_s, loaded.ended_s), abs=1e-6) for loaded in visits]
    assert spans(tracks(events)["pages"]) == expected


ON_AIR = {"mac__model": "dcf"}


@pytest.mark.parametrize(
    "settings", [{}, {"browser__persistent": True}, {"access_point__buffer_frames": 6}, ON_AIR]
)
def test_every_object_is_a_single_transfer_within_its_page(settings):
    """Connections may be persistent, and frames are lost."""
    world, _, events = timeline_of("psm", pages=8, **settings)
    tracks_ = tracks(events)
    transfers = [
        event for name, slices in tracks_.items() if name.startswith("transfers") for event in slices
    ]
    pages = [visit.page for visit, _ in world.visits]
    sizes = sorted(size for page in pages for size in (page.main_bytes, *page.image_bytes))
    assert sorted(int(event["name"].split()[2].replace(",", "")) for event in transfers) == sizes
    within = spans(tracks_["pages"])
    assert all(any(a <= b and c <= d + 1e-9 for a, d in within) for b, c in spans(transfers))
    assert max(end_s for _, end_s in spans(transfers)) == pytest.approx(within[-1][1], abs=1e-6)


def test_the_slice_of_a_decision_lasts_until_the_next_decision():
    """The poll is the arguments of the slice; the polling time is a counter."""
    _, reference, events = timeline_of("bsd:p=0.5")
    slices = tracks(events)["policy"]
    assert [event["ts"] for event in slices] == [
        pytest.approx(1e6 * at_s, abs=1) for at_s, _ in reference.answers
    ]
    times = {args["ms"] for _, args in counter(events, "polling time (ms)")}
    assert times == {100 * rest.beacons for _, rest in reference.answers}


@pytest.mark.parametrize("settings", [{}, ON_AIR])
def test_the_counter_of_buffered_frames_has_every_change_of_their_number(settings):
    """The times are those that the access point reports."""
    _, reference, events = timeline_of("psm", **settings)
    expected = [(pytest.approx(1e6 * at_s, abs=1), {"frames": frames}) for at_s, frames in reference.holds]
    assert counter(events, "buffered frames") == expected
    assert max(frames for _, frames in reference.holds) > 1
    assert reference.holds[-1][1] == 0


def test_the_weights_of_a_learner_are_counters_even_if_the_policy_is_guarded():
    """Each polling time has a series, and the weights add up to 1."""
    for policy in (make_policy("lpsm:loss=inverse"), guarded_policy(make_policy("lpsm:loss=inverse"))):
        _, _, events = timeline_of(policy, pages=10)
        weights = [args for _, args in counter(events, "weights")]
        assert len(weights) > 3
        assert list(weights[0]) == [f"{time} ms" for time in range(100, 1300, 100)]
        assert all(sum(weights_.values()) == pytest.approx(1, abs=1e-3) for weights_ in weights)
        assert weights[0] != weights[-1]


def test_messages_and_datagrams_are_transfers():
    """The traces have messages of a sensor, and pings."""
    for trace, kind in (("mqtt", "message"), ("ping", "datagram")):
        _, _, events = timeline_of("psm", trace=trace, pages=1)
        names = [
            event["name"]
            for name, slices in tracks(events).items()
            if name[:9] == "transfers"
            for event in slices
        ]
        assert any(name.startswith(f"{kind} from the station") for name in names)
        assert any(name.startswith(f"{kind} to the station") for name in names)


def test_an_endless_rest_and_a_run_without_pages_can_be_drawn_as_timelines():
    """A rest that never ends is one slice."""

    class Awake(Policy):
        name = "awake"

        def rest(self, now_s, since_uplink_s, poll):
            return Rest(awake_s=float("inf"))

    _, _, events = timeline_of(Awake(), trace="push", pages=1)
    assert {event["name"] for event in tracks(events)["policy"]} == {"stay awake"}
    assert tracks(events)["pages"] == []


def test_the_timeline_dataframe_has_transfers_and_buffered_frames():
    """All bytes of the pages, and the frames that the access point reports."""
    result = psm_sim.simulate("psm", pages=3)
    events = psm_sim.timeline(result)
    replies = events[(events["event"] == "transfer") & (events["kind"] == "reply")]
    assert replies["bytes"].sum() == sum(page.bytes for page in page_rows(result))
    assert events[events["event"] == "buffered"]["buffered_frames"].iloc[-1] == 0
    assert events["time_s"].is_monotonic_increasing
