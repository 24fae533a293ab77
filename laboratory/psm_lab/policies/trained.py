"""Policy with linear rules, whose weights an evolution strategy found in the environment."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import exp, log
from pathlib import Path
from typing import ClassVar

from psm_sim.common.input_limits import MAX_WEIGHT
from psm_sim.common.parameters import check_all, parameter
from psm_sim.policies import Poll, RadioPower, Rest
from psm_sim.policies.helpers.driver_view import AWAKE_MS, MAX_BEACONS, ObservingPolicy

WEIGHTS = Path(__file__).with_name("trained.json")
"""File of the weights, written by ``psm_lab/policies/training.py``."""

FEATURES = (
    "1",
    "log(since_sent_s + 0.01)",
    "log(since_request_s + 0.01)",
    "log(since_received_s + 0.01)",
    "1 if a beacon or an interrupted doze brought frames, else 0",
    "log(price / difference of the power awake and asleep)",
    "log(beacon_j / (this difference * beacon interval))",
)
"""Inputs of a rule, in the order of its weights."""

_SHORTEST = 0.01  # s; avoids log(0)
_THRESHOLDS_S = [0.001, *((low * high) ** 0.5 / 1000 for low, high in pairwise(AWAKE_MS[1:]))]
"""Thresholds between neighbouring times awake of the actions; all but the first are geometric means."""

Rules = Sequence[Sequence[Sequence[float]]]
"""Weights by mode (idle, waiting for a reply), output (time awake, doze) and feature."""


class LinearRules:
    """Rules that map an observation of the environment to an action.

    The logarithms of the time awake in seconds and of the doze in beacons are linear in the :data:`FEATURES`.
    One pair of rules applies while a reply is awaited, and one otherwise.

    Parameters
    ----------
    weights
        Weights of the rules.
    power
        Power of the radio.
    beacon_s
        Beacon interval, in seconds.
    price
        Price of delay, in watts.
    """

    def __init__(self, weights: Rules, power: RadioPower, beacon_s: float, price: float) -> None:
        self._weights = weights
        extra_w = max(power.awake_w - power.asleep_w, 1e-6)
        self._price = log(max(price, 1e-6) / extra_w)
        self._beacon = log(max(power.beacon_j / (extra_w * beacon_s), 1e-6))

    def __call__(self, observation: Sequence[float]) -> tuple[int, int]:
        """Return the action for an observation."""
        sent_s, request_s, received_s, _, waiting, _, _, frames, *_ = observation
        features = (
            1.0,
            log(max(sent_s, 0.0) + _SHORTEST),
            log(max(request_s, 0.0) + _SHORTEST),
            log(max(received_s, 0.0) + _SHORTEST),
            1.0 if frames else 0.0,
            self._price,
            self._beacon,
        )
        awake, doze = (_weigh(weights, features) for weights in self._weights[waiting > 0])
        beacons = round(exp(max(0.0, min(doze, 10.0))))
        return bisect_right(_THRESHOLDS_S, exp(min(awake, 10.0))), min(beacons, MAX_BEACONS) - 1


def _weigh(weights: Sequence[float], features: Sequence[float]) -> float:
    return sum(weight * feature for weight, feature in zip(weights, features, strict=True))


@cache
def _trained_rules() -> Rules:
    rules: Rules = json.loads(WEIGHTS.read_text(encoding="utf-8"))["weights"]
    return rules


@dataclass
class Trained(ObservingPolicy):
    """Policy of linear rules, trained with an evolution strategy.

    It is a baseline for trained policies, see ``docs/reference.md``.
    """

    name: ClassVar[str] = "trained"

    price: float = parameter(1.0, "price of delay", unit="W", at_least=0, at_most=MAX_WEIGHT)

    def __post_init__(self) -> None:
        check_all(self, "policy trained")

    def start(self, beacon_s: float) -> None:
        """Start without any observation."""
        super().start(beacon_s)
        self.rules = LinearRules(_trained_rules(), self.power, beacon_s, self.price)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Return the sleep decision of the rules.

        See :class:`~psm_sim.policies.Policy` for *now_s*, *since_uplink_s* and *poll*.
        """
        awake, beacons = self.rules(self.observe(now_s, poll))
        return Rest(AWAKE_MS[awake] / 1000, beacons + 1)
