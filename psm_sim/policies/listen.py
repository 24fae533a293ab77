"""Listen: an active learner decides which beacons to hear; one that it does not hear tells nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from psm_sim.active import OnlineLearner, QueryRule, make_selective
from psm_sim.arrays import Floats
from psm_sim.bounds import MOST_POLLS, MOST_SEED, MOST_WEIGHT
from psm_sim.errors import InputError
from psm_sim.parameters import check_all, parameter
from psm_sim.policies.base import Frame, Policy, Rest
from psm_sim.policies.features import Features
from psm_sim.policies.flows import longest_doze
from psm_sim.policies.listening_tally import Tally
from psm_sim.poll import Poll
from psm_sim.randomness import stream

_SAMPLERS = {
    "cbgz": "cbgz:b={b}",
    "cbgz2": "cbgz2:b={b},ridge={ridge}",
    "lasec": "lasec-ss:b={b},ridge={ridge},c={c}",
    "dkm": "dkm:R={R},regrow={regrow}",
}


class Planned(NamedTuple):
    """Beacon that will be heard: its instance, margin, spread, probability, and whether it is forced."""

    instance: Floats
    margin: float
    spread: float
    chance: float
    forced: bool


@dataclass
class Listen(Policy):
    """Hear the beacons at which an online learner expects frames, and others with a coin's probability.

    Each beacon is an instance (:class:`~psm_sim.policies.features.Features`), and frames held are its label.
    A beacon with a margin of 0 or more is heard, so its label is free; below, the sampler's coin is tossed;
    and one is heard at the latest after ``max_ms``. Only beacons heard teach anything. Between beacons
    nothing changes, so that all coins up to the next beacon heard are tossed ahead.

    The mistake bounds of the margin coins hold for labels that come by themselves on one side
    (:class:`~psm_sim.active.OneSided`), but not with a ``weight``. ``dkm`` listens inside its halving band.

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
        0.03, "scale of the margin's coin; of random, the probability", above=0, at_most=MOST_WEIGHT
    )
    c: float = parameter(1000.0, "lasec: inverse drift rate, above the ridge", above=0, at_most=MOST_WEIGHT)
    ridge: float = parameter(1.0, "cbgz2 and lasec: pull of the weights to 0", above=0, at_most=MOST_WEIGHT)
    R: int = parameter(32, "dkm: right labels in a row that halve the band", at_least=1, at_most=MOST_POLLS)
    regrow: bool = parameter(False, "dkm: a mistake doubles the band, and a run must hold a positive")
    weight: float = parameter(
        1.0, "cbgz: how many times a missed frame counts", at_least=1, at_most=MOST_WEIGHT
    )
    floor: float = parameter(0.0, "least probability of hearing a beacon", at_least=0, at_most=1)
    context: bool = parameter(True, "whether it knows that a request is outstanding")
    max_ms: float = parameter(1200.0, "longest doze", unit="ms", above=0, at_most=10_000)
    seed: int = parameter(1, "seed of the coins", at_least=0, at_most=MOST_SEED)
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
        self._random = stream(self.seed, "policy listen")
        self._most = longest_doze(self.max_ms, self.beacon_s)
        self._planned: Planned | None = None
        self._learner, self._rule = self._sampler()
        self._counts = Tally(estimates=self.learner != "dkm")

    def _sampler(self) -> tuple[OnlineLearner | None, QueryRule | None]:
        if self.learner == "random":
            return None, None
        values = {"b": self.b, "ridge": self.ridge, "c": self.c, "R": self.R, "regrow": self.regrow}
        made = make_selective(_SAMPLERS[self.learner].format(**values), self._features.count)
        return made.learner, made.rule

    def sent(self, now_s: float, frame: Frame) -> None:
        """Take note of a frame sent."""
        self._features.sent(now_s, frame)

    def received(self, now_s: float, frame: Frame) -> None:
        """Take note of a frame received."""
        self._features.received(now_s, frame)

    def report(self) -> dict[str, float]:
        """Return how many beacons were heard, with and without frames, and the misses estimated."""
        return self._counts.to_dict()

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Learn from the beacon heard, and doze to the next one that is to be heard."""
        if poll is not None:
            self._heard(poll.held_frames > 0)
            self._features.listened(now_s)
        first = self.beacon_grid.after(now_s)
        times_s = np.arange(first, first + self._most, dtype=np.float64) * self.beacon_s
        return Rest(0.0, self._look_ahead(self._features.at(times_s)))

    def _look_ahead(self, instances: Floats) -> int:
        """Toss the coins of the coming beacons, instances of shape (n, features), up to the first success."""
        views = zip(instances, *self._views(instances), self._random.random(self._most).tolist(), strict=True)
        for place, (instance, margin, spread, coin) in enumerate(views, 1):
            forced = place == self._most
            chance = 1.0 if forced else self._chance(instance, margin, spread)
            if coin < chance:
                break
        self._planned = Planned(instance.copy(), margin, spread, chance, forced)
        return place

    def _views(self, instances: Floats) -> tuple[list[float], list[float]]:
        if self._learner is None or self._rule is None:
            return [-1.0] * self._most, [0.0] * self._most
        if not hasattr(self._learner, "G"):
            return (instances @ self._learner.w).tolist(), [0.0] * self._most
        spreads = np.einsum("ij,ij->i", instances @ self._learner.G, instances)
        return ((instances @ self._learner.w) / (1 + spreads)).tolist(), spreads.tolist()

    def _chance(self, instance: Floats, margin: float, spread: float) -> float:
        if self._rule is None:
            return self.b
        return 1.0 if margin >= 0 else max(self.floor, self._rule.chance(instance, margin, spread))

    def _heard(self, frames: bool) -> None:
        """Learn from the label of the beacon that was planned, and count it."""
        planned, self._planned = self._planned, None
        if planned is None:
            return
        self._counts.heard(planned.margin < 0, planned.chance, planned.forced, frames)
        if self._learner is None or self._rule is None:
            return
        label = 1 if frames else -1
        right = label * planned.margin > 0
        self._rule.chance(planned.instance, planned.margin, planned.spread)
        moved = self._learner.learn(planned.instance, label)
        if moved and frames and self.weight != 1:
            self._learner.w += (self.weight - 1) * planned.instance
        self._rule.told(right)
