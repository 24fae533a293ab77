"""Polling times of the experts of LPSM, the prediction from their weights, and the plan of dozes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from psm_sim.common.array_types import FloatArray, IntArray
from psm_sim.common.errors import InputError, did_you_mean
from psm_sim.common.random_streams import random_stream
from psm_sim.learning import Learner
from psm_sim.learning.repeated_loss_lookahead import Lookahead
from psm_sim.learning.switching_rates import MAX_HORIZON

MAX_EXPERTS = 10_000
"""Maximum number of experts.

With one expert for each beacon interval of 102.4 ms, the longest polling time is then 17 minutes.
"""


def polling_times_ms(min_ms: float, max_ms: float, step_ms: float, owner: str) -> FloatArray:
    """Return the polling times of the experts, shape (n,), in ms.

    Parameters
    ----------
    min_ms, max_ms : float
        Shortest polling time, and upper limit of all polling times, in ms.
    step_ms : float
        Difference between successive polling times, in ms, above 0.
    owner : str
        Component named in error messages, such as ``"policy lpsm"``.

    Raises
    ------
    InputError
        If *max_ms* is below *min_ms*, or there are fewer than 2 or more than :data:`MAX_EXPERTS` experts.
    """
    if max_ms < min_ms:
        raise InputError(f"{owner}: max_ms must be at least min_ms ({min_ms:g}), got {max_ms:g}.")
    # 1e-9: include a last step that exceeds max_ms by a rounding error only
    count = int(min((max_ms - min_ms) / step_ms + 1e-9, 1e9)) + 1
    if not 2 <= count <= MAX_EXPERTS:
        raise InputError(
            f"{owner}: min_ms={min_ms:g}, max_ms={max_ms:g}, step_ms={step_ms:g} define {count} experts;"
            f" expected 2 to {MAX_EXPERTS}."
        )
    times_ms = min_ms + step_ms * np.arange(count, dtype=np.float64)
    times_ms.flags.writeable = False  # read-only, since user-defined losses receive the array
    return times_ms


def polls_in_horizon(horizon_s: float, beacon_s: float, owner: str) -> int:
    """Return the number of polls in a horizon with one poll per beacon, at least 1.

    Parameters
    ----------
    horizon_s, beacon_s : float
        Horizon and beacon interval, in seconds.
    owner : str
        Component named in error messages, such as ``"policy lpsm"``.

    Raises
    ------
    InputError
        If the horizon has more than :data:`MAX_HORIZON` beacon intervals.
    """
    polls = horizon_s / beacon_s
    if polls > MAX_HORIZON:
        raise InputError(
            f"{owner}: horizon_s={horizon_s:g} is {polls:g} beacon intervals of {1e3 * beacon_s:g} ms;"
            f" expected at most {MAX_HORIZON:g}."
        )
    return max(1, round(polls))


MEAN = "mean"
"""Rule of the thesis, eq. 2.32."""

RULES = (MEAN, "harmonic", "median", "quantile:Q", "sample")
"""Names of the rules. Q is a share of the weight, from 0 to 1."""


class PredictionRule:
    """Rule that turns the weights of the experts into one polling time.

    ``mean`` and ``harmonic`` are weighted means of the times and of the polling rates. ``quantile:Q`` is the
    shortest time that, with all shorter times, has a total weight of at least Q. ``median`` is
    ``quantile:0.5``. ``sample`` draws the time of one expert, with the weights as probabilities. The draws
    are the same in every run.

    Parameters
    ----------
    rule : str
        One of :data:`RULES`.
    times_ms : ndarray, shape (n,)
        Polling times of the experts, in ms, ascending.
    owner : str
        Component named in error messages.

    Raises
    ------
    InputError
        If the rule is unknown, or Q is not a number from 0 to 1.
    """

    def __init__(self, rule: str, times_ms: FloatArray, owner: str) -> None:
        self._times_ms = times_ms
        self._kind, _, argument = rule.partition(":")
        self._quantile = 0.5
        if self._kind == "quantile":
            self._quantile = _parse_quantile(rule, argument, owner)
        elif rule not in RULES:
            raise InputError(
                f"{owner}: rule must be one of {', '.join(RULES)}, got {rule!r}.{did_you_mean(rule, RULES)}"
            )
        self.start()

    def start(self) -> None:
        """Restart the draws of ``sample``."""
        self._random = random_stream(0, "policy lpsm.sample")

    def predict(self, learner: Learner) -> float:
        """Return the polling time for the learner's weights, in ms."""
        if self._kind == MEAN:
            return learner.predict(self._times_ms)
        if self._kind == "harmonic":
            return 1 / learner.predict(1 / self._times_ms)
        share = float(self._random.random()) if self._kind == "sample" else self._quantile
        index = int(np.searchsorted(learner.weights.cumsum(), share))
        return float(self._times_ms[min(index, self._times_ms.size - 1)])


def _parse_quantile(rule: str, argument: str, owner: str) -> float:
    try:
        quantile = float(argument)
    except ValueError:
        quantile = -1.0
    if not 0 <= quantile <= 1:
        raise InputError(f"{owner}: the quantile of rule must be a number from 0 to 1, got {rule!r}.")
    return quantile


ROUNDING_OFFSET = 0.5 + 1e-9
"""Offset for rounding polling times to beacons.

A polling time that is at most 1e-9 beacons below a half is rounded up. A mean on the boundary is thus always
rounded up, whatever the rounding errors of its computation.
"""


class IdlePlan:
    """Plan of LPSM for beacons at which no frame is buffered.

    The losses are the same at each of these beacons, so the learner can compute many rounds at once.

    Parameters
    ----------
    make_lookahead : callable
        Returns the :class:`~psm_sim.learning.repeated_loss_lookahead.Lookahead` over the rounds of the plan,
        or None for an empty plan. Called when the station requests the first doze.
    learned : callable
        Called at the end of :meth:`followed` with its argument *until*.
    times_ms : ndarray, shape (n,)
        Polling times of the experts, in ms, ascending.
    beacon_s : float
        Beacon interval, in seconds.
    """

    def __init__(
        self,
        make_lookahead: Callable[[], Lookahead | None],
        learned: Callable[[int], None],
        times_ms: FloatArray,
        beacon_s: float,
    ) -> None:
        self._make_lookahead, self._learned = make_lookahead, learned
        self._times: FloatArray = times_ms / (1000 * beacon_s)
        self._lookahead: Lookahead

    def dozes(self) -> Iterator[tuple[int, float]]:
        """Yield doze lengths, each with the number of successive dozes; nothing without a lookahead."""
        lookahead = self._make_lookahead()
        if lookahead is None:
            return
        self._lookahead = lookahead
        for mean_times in lookahead.predictions(self._times):
            yield from _runs(round_to_beacons(mean_times))

    def followed(self, heard: int, until: int) -> None:
        """Learn *heard* rounds, and call *learned* with *until*."""
        self._lookahead.learn(heard)
        self._learned(until)


def round_to_beacons(means: FloatArray) -> IntArray:
    """Round polling times to whole beacon intervals, each at least 1.

    Parameters
    ----------
    means : ndarray, shape (k,)
        Polling times, in beacon intervals.
    """
    return np.maximum((means + ROUNDING_OFFSET).astype(np.intp), 1)


def _runs(beacons: IntArray) -> Iterator[tuple[int, int]]:
    """Yield the length of each doze and the number of its consecutive repetitions."""
    lasts = (beacons[1:] != beacons[:-1]).nonzero()[0]
    start = 0
    for end, doze in zip((lasts + 1).tolist(), beacons[lasts].tolist(), strict=True):
        yield doze, end - start
        start = end
    yield beacons.item(-1), beacons.size - start
