"""Listening policy: an active learner decides which beacons to receive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from psm_lab.active import make_selective
from psm_lab.policies.beacon_features import Features
from psm_lab.policies.beacon_forecast import BeaconForecast, PlannedBeacon, RandomListening
from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_POLLS, MAX_SEED, MAX_WEIGHT
from psm_sim.common.parameters import check_all, parameter
from psm_sim.common.random_streams import random_stream
from psm_sim.policies import Frame, Policy, Poll, Rest
from psm_sim.policies.helpers.outstanding_requests import longest_doze

_SAMPLERS = {
    "cbgz": "cbgz:b={b}",
    "cbgz2": "cbgz2:b={b}",
    "lasec": "lasec-ss:b={b},ridge=1",
    "dkm": "dkm:R={R}",
}


@dataclass
class Listen(Policy):
    """Policy that receives the beacons at which an active learner predicts frames, and some others.

    Each beacon is an instance (:class:`~psm_lab.policies.beacon_features.Features`), and its label is
    whether frames are buffered. The station only learns the labels of the beacons that it receives.

    - A beacon with a margin of 0 or more is received, so its label is free.
    - Below margin 0 the query rule of the learner decides by a Bernoulli draw.
    - A beacon is received after at most ``max_ms`` in any case.

    Nothing changes between two received beacons, so all draws up to the next one are made in advance. The
    rule of ``dkm`` receives the beacons inside its halving band.

    The mistake bounds of the margin rules also apply if labels are free on one side
    (:class:`~psm_lab.active.query_rules.OneSided`), but not with a ``weight``.

    Source: Cesa-Bianchi, Gentile and Zaniboni (2006); Moroshko and Crammer (2014); Dasgupta, Kalai and
    Monteleoni (2005).
    """

    name: ClassVar[str] = "listen"

    learner: str = parameter(
        "cbgz",
        "learner; random: a fixed probability",
        choices=("cbgz", "cbgz2", "lasec", "random", "dkm"),
    )
    b: float = parameter(
        0.03,
        "scale of the margin rule; random: the probability",
        above=0,
        at_most=MAX_WEIGHT,
        requires="learner=cbgz or learner=cbgz2 or learner=lasec or learner=random",
    )
    R: int = parameter(
        32,
        "dkm: correct predictions in a row that halve the band",
        at_least=1,
        at_most=MAX_POLLS,
        expert=True,
        requires="learner=dkm",
    )
    weight: float = parameter(
        1.0,
        "cbgz: weight of a frame that was not predicted",
        at_least=1,
        at_most=MAX_WEIGHT,
        expert=True,
        requires="learner=cbgz",
    )
    context: bool = parameter(True, "use outstanding requests as features", expert=True)
    max_ms: float = parameter(1200.0, "longest doze", unit="ms", above=0, at_most=10_000)
    seed: int = parameter(1, "seed of the Bernoulli draws", at_least=0, at_most=MAX_SEED, expert=True)

    def __post_init__(self) -> None:
        check_all(self, "policy listen")
        if self.weight != 1 and self.learner != "cbgz":
            raise InputError(f"policy listen: weight={self.weight:g} requires learner=cbgz.")
        if self.learner == "random" and self.b > 1:
            raise InputError(f"policy listen: b must be <= 1 for learner=random, got {self.b:g}.")
        self._begin()

    def start(self, beacon_s: float) -> None:
        """Reset the learner and the statistics."""
        super().start(beacon_s)
        self._begin()

    def _begin(self) -> None:
        self._features = Features(self.context, self.beacon_s)
        self._horizon = longest_doze(self.max_ms, self.beacon_s)
        self._random = random_stream(self.seed, "policy listen")
        self._forecast = self._make_forecast()
        self._planned: PlannedBeacon | None = None
        self._counts = dict.fromkeys(("listens", "hits", "forced", "wasted"), 0)
        self._misses = 0.0

    def _make_forecast(self) -> BeaconForecast | RandomListening:
        if self.learner == "random":
            return RandomListening(self.b)
        spec = _SAMPLERS[self.learner].format(b=self.b, R=self.R)
        sampler = make_selective(spec, self._features.count)
        return BeaconForecast(self._features, sampler, self.beacon_grid)

    def sent(self, now_s: float, frame: Frame) -> None:
        """Handle a sent frame."""
        self._features.sent(now_s, frame)

    def received(self, now_s: float, frame: Frame) -> None:
        """Handle a received frame. Group addressed frames are ignored."""
        if not frame.group:
            self._features.received(now_s, frame)

    def report(self) -> dict[str, float]:
        """Return the counts of the received beacons, and the estimated number of misses.

        ``listens`` counts all received beacons, ``hits`` those with buffered frames, and ``wasted`` those
        without. ``forced`` counts the beacons received only because the longest doze had elapsed.
        ``misses_estimated`` estimates the number of beacons, received or not, at which no frames were
        predicted although frames were buffered. Each observed miss counts 1 / p, where p is the probability
        of receiving that beacon (Horvitz-Thompson estimator). There is no estimate for ``dkm``, because p can
        be 0.
        """
        estimate = {} if self.learner == "dkm" else {"misses_estimated": self._misses}
        return {**self._counts, **estimate}

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Learn from the received beacon, and doze until the next beacon to receive."""
        first = self.beacon_grid.after(now_s)
        if poll is not None:
            self._learn_planned(poll.buffered_frames > 0)
            self._features.listened(now_s)
        self._planned = self._forecast.next_beacon(first, self._random.random(self._horizon).tolist())
        return Rest(0.0, self._planned.number - first + 1)

    def _learn_planned(self, frames: bool) -> None:
        """Learn from the label of the planned beacon, and count it."""
        planned, self._planned = self._planned, None
        if planned is not None:
            counted = {"listens": True, "hits": frames, "forced": planned.forced, "wasted": not frames}
            for name, is_counted in counted.items():
                self._counts[name] += is_counted
            if planned.margin < 0 and frames:
                self._misses += 1 / planned.probability
            self._forecast.learn(planned, frames, self.weight)
