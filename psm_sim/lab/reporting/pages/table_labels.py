"""Wording of table titles, headings and cells in Markdown reports.

The keys are the names in ``numbers.json``, which other programs read and which therefore do not change.
"""

from __future__ import annotations

_TITLES = {
    "Accuracy, and of the first 500 rounds": "Accuracy over all rounds and over the first 500",
    "Best setting of each family of think times and each server delay": (
        "Best setting for each distribution of think times and each server delay (LPSM + BSD)"
    ),
    "Frontier of the search: no setting meets more of both": "Pareto frontier of the search",
    "Held replies, and the largest delivery time as a share of its bound": (
        "Buffered replies, and the largest delivery time as a share of its bound"
    ),
    "ISALn: median error after each round, and of as many passive labels": (
        "ISALn: median error after each round, and with equally many passive labels"
    ),
    "In the simulator: each policy and the floor at its own page times": (
        "Simulated energy of each policy, and the lower bound at its page times"
    ),
    "Learn-alpha by what it does after an uplink packet": "Learn-alpha by its choice after an uplink packet",
    "Macro F-measure and label rate, with a coin of each run's own rate": (
        "Macro F-measure and label rate, with a control of the same fixed rate"
    ),
    "Mean F-measure; in brackets an independent program's": (
        "Mean F-measure, with that of an independent program in parentheses"
    ),
    "Mean current in mA, measured and ours": "Measured and simulated mean current in mA",
    "Mean error; in brackets an independent program's": (
        "Mean error, with that of an independent program in parentheses"
    ),
    "Mean page time over no power saving, ours / reference: four connections": (
        "Mean page time relative to no power saving (simulated / reference), four connections"
    ),
    "On the chain: each policy and the least energy at its own total delay": (
        "Event chain: each policy, and the minimum energy at its total delay"
    ),
    "On the chain: hindsight's best under a bound on every exchange": (
        "Event chain: offline optimum under a bound on every exchange"
    ),
    "One choice at a time; published values in the headings": (
        "One change at a time, with the published values in the headings"
    ),
    "Ours at each loss rate, in ms": "Simulated percentiles at each loss rate, in ms",
    "Percentiles in ms, measured and ours": "Measured and simulated percentiles in ms",
    "Power and delay a page in each regime": "Power and delay per page in each regime",
    "Random listening to as many beacons as a learner": (
        "Random listening compared with learners at equally many beacons"
    ),
    "Sentences of the thesis on this replay": "Statements of the thesis on this replay",
    "Share of the runs that reach an error; mean labels of those that do": (
        "Share of the runs that reach an error, and their mean number of labels"
    ),
    "Sleep times chosen": "Sleep times",
    "The candidates on judging seeds": "Candidates on judging seeds",
    "The same on stationary traffic, published gamma": (
        "Energy and slowdown on stationary traffic, published gamma"
    ),
    "The same with one connection at a time": (
        "Mean page time relative to no power saving (simulated / reference), one connection"
    ),
}

_HEADINGS = {
    "BSD's met": "BSD: agree",
    "F of the coin": "F of the control",
    "LPSM's met": "LPSM: agree",
    "above hindsight %": "above offline optimum %",
    "above it %": "excess %",
    "above no delay %": "excess over the optimum without delay %",
    "against Learn-alpha": "compared with Learn-alpha",
    "against one": "compared with one",
    "arrived": "share that reaches the error",
    "at most": "bound",
    "bought": "share of queried labels",
    "cost while tuning": "tuning cost",
    "fitted verdict": "p50 and p90, fitted",
    "delay a page, ms": "delay per page, ms",
    "floor J": "lower bound J",
    "found": "result",
    "held, plain": "buffered, plain",
    "held, thesis": "buffered, thesis",
    "held, thesis-uniform": "buffered, thesis-uniform",
    "hindsight, no delay, J": "offline optimum, no delay, J",
    "its beacons": "beacons of the learner",
    "its slowdown": "slowdown of the learner",
    "its standard error": "standard error of the excess",
    "least J at that delay": "minimum J at that delay",
    "less LPSM's": "difference to LPSM",
    "mJ more than Learn-alpha": "mJ per page, difference to Learn-alpha",
    "more than Learn-alpha, gamma 1e-05": "difference to Learn-alpha, gamma 1e-05",
    "more than Learn-alpha, gamma published": "difference to Learn-alpha, gamma published",
    "not met": "do not agree",
    "ours": "simulated",
    "ours, DTIM 3": "simulated, DTIM 3",
    "p99 verdict": "p99, predicted",
    "random's beacons": "beacons of random listening",
    "random's slowdown": "slowdown of random listening",
    "reference arrived": "reference share",
    "sentence": "statement",
    "slowdown more": "slowdown, difference",
    "sum of probabilities": "sum of query probabilities",
    "tuned most often": "most frequent spec",
}

_CELLS = {
    "after an uplink: the full time again": "after an uplink packet: the full time again",
    "after an uplink: the planned poll": "after an uplink packet: the planned poll",
    "air": "channel",
    "air, bit kept set": "channel, TIM bit kept",
    "as the preset": "preset without changes",
    "best switching rate in hindsight": "best switching rate, chosen offline",
    "files counted right, planned poll": "files counted correctly, planned poll",
    "files per page counted right": "files per page counted correctly",
    "gamma a tenth": "a tenth of gamma",
    "held frames wait for a beacon": "buffered frames wait for a beacon",
    "hindsight, no delay": "offline optimum, no delay",
}

_CLAIMS = {
    "1. at 0.1 W less energy and less delay than LPSM": (
        "1. anticipate at 0.1 W: less energy and less delay than LPSM"
    ),
    "2. at 0.1 W static PSM's page times at 9 % less energy": (
        "2. anticipate at 0.1 W: page times of static PSM with 9 % less energy"
    ),
    "3. at 2 W less energy than BSD, and at most 0.03 more slowdown": (
        "3. anticipate at 2 W: less energy than BSD, and at most 0.03 more slowdown"
    ),
    "3. the same, and at most 0.01 more slowdown": (
        "3. anticipate at 2 W: less energy than BSD, and at most 0.01 more slowdown"
    ),
    "4. the rule: less energy and less delay than LPSM": (
        "4. outstanding: less energy and less delay than LPSM"
    ),
    "5. a seed's learner: less energy and less delay than LPSM": (
        "5. listen: less energy and less delay than LPSM"
    ),
    "6. the margin's coin: less delay than random listening to as many beacons": (
        "6. listen: less delay than random listening to equally many beacons"
    ),
    "7. a seed's learner: less energy and less delay than the rule": (
        "7. listen: less energy and less delay than outstanding"
    ),
    "8. DKM dries up: at most one beacon in five is heard unforced": (
        "8. listen with DKM: at most one in five received beacons is unforced"
    ),
    "9. on memoryless pushes less energy than a fixed interval of the same delay": (
        "9. anticipate on memoryless pushes: less energy than a fixed interval of equal delay"
    ),
    "10. on pushes by a clock half of LPSM's delay at less energy": (
        "10. anticipate on periodic pushes: half of LPSM's delay with less energy"
    ),
}

_SOURCES = {
    "BSD paper: no round trip above (1 + p) times its own; ours is the largest ratio to that bound": (
        "BSD paper: no round trip above (1 + p) times its own; the value is the largest ratio to that bound"
    ),
    "ours: control": "control, not published",
}

_LABELS = {**_TITLES, **_HEADINGS, **_CELLS, **_CLAIMS, **_SOURCES}


def label(name: str) -> str:
    """Return the wording of a title, heading or cell; names without a wording are returned unchanged."""
    return _LABELS.get(name, name)
