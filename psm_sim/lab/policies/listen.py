"""Listen: an active learner decides which beacons to hear; one that it does not hear tells nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from psm_sim.errors import InputError
from psm_sim.lab.active import make_selective
from psm_sim.lab.policies.beacon_forecast import BeaconForecast, RandomListening
from psm_sim.lab.policies.features import Features
from psm_sim.lab.policies.listening_plan import CoinTosses, ListeningPlan, PlannedBeacon
from psm_sim.lab.policies.listening_tally import ListeningStats
from psm_sim.limits import MAX_POLLS, MAX_SEED, MAX_WEIGHT
from psm_sim.parameters import check_all, parameter
from psm_sim.policies.base import Frame, Policy, Rest
from psm_sim.policies.outstanding_requests import longest_doze
from psm_sim.poll import Poll
from psm_sim.random_streams import random_stream

_SAMPLERS = {
    "cbgz": "cbgz:b={b}",
    "cbgz2": "cbgz2:b={b},ridge={ridge}",
    "lasec": "lasec-ss:b={b},ridge={ridge},c={c}",
    "dkm": "dkm:R={R},regrow={regrow}",
}


@dataclass
class Listen(Policy):
    """Hear the beacons at which an online learner expects frames, and others with a coin's probability.

    Each beacon is an instance (:class:`~psm_sim.lab.policies.features.Features`), and frames held are its
    label.
    A beacon with a margin of 0 or more is heard, so its label is free; below, the sampler's coin is tossed;
    and one is heard at the latest after ``max_ms``. Only beacons heard teach anything. Between beacons
    nothing changes, so that all coins up to the next beacon heard are tossed ahead. An empty beacon that was
    predicted empty teaches nothing either, so that a silence is planned ahead up to the first that would
    (:class:`~psm_sim.lab.policies.listening_plan.ListeningPlan`). ``dkm`` counts all, and is asked each time.

    The mistake bounds of the margin coins hold for labels that come by themselves on one side
    (:class:`~psm_sim.lab.active.OneSided`), but not with a ``weight``. ``dkm`` listens inside its halving
    band.

    Source: Cesa-Bianchi, Gentile and Zaniboni (2006); Moroshko and Crammer (2014); Dasgupta, Kalai and
    Monteleoni (2005).
    """

    name: ClassVar[str] = "listen"

    learner: str = parameter(
        "cbgz",
        "what learns; random: a fixed probability",
        choices=("cbgz", "cbgz2", "lasec", "random", "dkm"),
    )
    b: float = parameter(
        0.03, "scale of the margin's coin; of random, the probability", above=0, at_most=MAX_WEIGHT
    )
    c: float = parameter(1000.0, "lasec: inverse drift rate, above the ridge", above=0, at_most=MAX_WEIGHT)
    ridge: float = parameter(1.0, "cbgz2 and lasec: pull of the weights to 0", above=0, at_most=MAX_WEIGHT)
    R: int = parameter(32, "dkm: right labels in a row that halve the band", at_least=1, at_most=MAX_POLLS)
    regrow: bool = parameter(False, "dkm: a mistake doubles the band, and a run must hold a positive")
    weight: float = parameter(
        1.0, "cbgz: how many times a missed frame counts", at_least=1, at_most=MAX_WEIGHT
    )
    floor: float = parameter(0.0, "least probability of hearing a beacon", at_least=0, at_most=1)
    context: bool = parameter(True, "whether it knows that a request is outstanding")
    max_ms: float = parameter(1200.0, "longest doze", unit="ms", above=0, at_most=10_000)
    seed: int = parameter(1, "seed of the coins", at_least=0, at_most=MAX_SEED)
    mss: int = parameter(1460, "payload of a full TCP segment", unit="bytes", at_least=1, at_most=65_535)

    def __post_init__(self) -> None:
        check_all(self, "policy listen")
        if self.weight != 1 and self.learner != "cbgz":
            raise InputError(f"policy listen: weight is {self.weight:g}; expected 1 but for learner=cbgz.")
        if self.learner == "random" and self.b > 1:
            raise InputError(f"policy listen: b is {self.b:g}; expected a probability for learner=random.")
        self._begin()

    def start(self, beacon_s: float) -> None:
        """Begin with nothing learnt."""
        super().start(beacon_s)
        self._begin()

    def _begin(self) -> None:
        self._features = Features(self.context, self.beacon_s, self.mss)
        self._most = longest_doze(self.max_ms, self.beacon_s)
        self._coins = CoinTosses(random_stream(self.seed, "policy listen"), self._most)
        self._outlook = self._looking()
        self._planned: PlannedBeacon | None = None
        self._counts = ListeningStats(estimates=self.learner != "dkm")

    def _looking(self) -> BeaconForecast | RandomListening:
        if self.learner == "random":
            return RandomListening(self.b, self._most)
        values = {"b": self.b, "ridge": self.ridge, "c": self.c, "R": self.R, "regrow": self.regrow}
        sampler = make_selective(_SAMPLERS[self.learner].format(**values), self._features.count)
        return BeaconForecast(self._features, sampler, self.floor, self.beacon_grid, self._most)

    def sent(self, now_s: float, frame: Frame) -> None:
        """Take note of a frame sent."""
        self._features.sent(now_s, frame)
        self._outlook.on_frame()

    def received(self, now_s: float, frame: Frame) -> None:
        """Take note of a frame received."""
        self._features.received(now_s, frame)
        self._outlook.on_frame()

    def report(self) -> dict[str, float]:
        """Return how many beacons were heard, with and without frames, and the misses estimated."""
        return self._counts.to_dict()

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Learn from the beacon heard, and doze to the next one that is to be heard."""
        first = self.beacon_grid.after(now_s)
        if poll is not None:
            self._heard(poll.buffered_frames > 0)
            self._features.listened(now_s)
        on_beacon = poll is not None and now_s == self.beacon_grid.time(first - 1)
        self._planned = planned = self._outlook.look(first, self._coins.row(0), on_beacon)
        self._coins.used(1)
        is_planned = on_beacon and self._plans
        plan = ListeningPlan(self._outlook, self._coins, planned, self._followed) if is_planned else None
        return Rest(0.0, planned.number - first + 1, plan=plan)

    @property
    def _plans(self) -> bool:
        """Whether it offers plans; a policy derived from it is asked at each beacon."""
        return type(self) is Listen and self.learner != "dkm"

    def _heard(self, frames: bool) -> None:
        """Learn from the label of the beacon that was planned, and count it."""
        planned, self._planned = self._planned, None
        if planned is not None:
            self._counts.heard(planned.margin < 0, planned.chance, planned.forced, frames)
            self._outlook.learn(planned, frames, self.weight)

    def _followed(self, heard: list[PlannedBeacon], planned: PlannedBeacon) -> None:
        for each in heard:
            self._counts.heard(True, each.chance, each.forced, False)
        self._features.listened(self.beacon_grid.time(heard[-1].number))
        self._coins.used(len(heard))
        self._planned = planned
