"""Verdict and conclusion of a comparison: claims follow from the intervals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import ttest_rel

from psm_sim import compare
from psm_sim.network import Usage
from psm_sim.reporting.files.result_json import to_dict
from psm_sim.reporting.html.comparison import html_of
from psm_sim.reporting.sentences import conclude
from psm_sim.simulation import Result
from psm_sim.simulation.table import Block
from psm_sim.simulation.verdict import RELEVANT, judge

HINT = "One seed cannot tell a difference from noise; add --replications 10."


def result(
    policy: str,
    page: dict[str, float],
    usage: Usage,
    simulated_s: float,
    messages: Mapping[str, Any] | None = None,
    volts: float | None = None,
    failure: str = "",
    kind: str = "",
    station_policy: str = "",
) -> Result:
    """Return the result of a run of one page."""
    keys = {"policy": policy, "label": "", "parameters": {}, "kind": kind, "station_policy": station_policy}
    supply = {} if volts is None else {"supply_v": volts}
    pages = {name: np.array([value]) for name, value in {"page": 1, **page, **usage._asdict()}.items()}
    failures = {1: failure} if failure else {}
    counts = {"simulated_s": simulated_s, **supply}
    return Result((Block(keys, counts, pages, messages or {}, failures, bool(failure)),))


def page_run(
    policy: str, energy_j: float, slowdown: float, usage: Usage | None = None, **more: Any
) -> Result:
    """Return the result of one page that takes a second without power saving."""
    page = {"objects": 1, "page_time_s": slowdown, "always_on_time_s": 1.0, "slowdown": slowdown}
    return result(policy, page, usage or Usage(1.0, 1.0, 0, energy_j, 0.0, 0.0), 2.0, **more)


def device_run(
    policy: str, power_w: float, latency_s: float, lost: int = 0, volts: float | None = 2.0
) -> Result:
    """Return the result of 100 s with 100 messages to the station."""
    pause = {"objects": 0, "page_time_s": 0.0, "always_on_time_s": 0.0, "slowdown": 1.0}
    latencies_s = np.full(100 - lost if latency_s else 0, latency_s)
    usage = Usage(1.0, 99.0, 0, 100 * power_w, 0.0, 0.0)
    return result(policy, pause, usage, 100.0, {"down": (100, lost, latencies_s)}, volts)


def seeds(runs: Sequence[Result]) -> Result:
    """Return the result of one policy over several seeds."""
    blocks = [replace(run.blocks[0], keys={**run.keys, "seed": seed}) for seed, run in enumerate(runs)]
    return Result(tuple(blocks), ("seed",))


def averages(energies_j: NDArray[np.float64], slowdowns: NDArray[np.float64]) -> list[Result]:
    """Return one average per row. The columns are seeds."""
    return [
        seeds([page_run(f"p{index}", *pair) for pair in zip(energies, delays, strict=True)])
        for index, (energies, delays) in enumerate(zip(energies_j, slowdowns, strict=True))
    ]


def expected_group(rows: NDArray[np.float64]) -> set[int]:
    """Return the rows that do not differ from the one with the lowest mean, by Holm's correction of"
    " all pairs.
    """
    pairs = list(itertools.combinations(range(len(rows)), 2))
    p_values = [1.0 if (rows[a] == rows[b]).all() else ttest_rel(rows[a], rows[b]).pvalue for a, b in pairs]
    rejected = set()
    for step, index in enumerate(np.argsort(p_values)):
        if p_values[index] > 0.05 / (len(pairs) - step):
            break
        rejected.add(frozenset(pairs[index]))
    means = rows.mean(axis=1)
    best = int(means.argmin())
    close = np.abs(means - means[best]) <= RELEVANT * means
    return {i for i in range(len(rows)) if i == best or close[i] or frozenset((i, best)) not in rejected}


EFFECTS = st.sampled_from([0.0, 0.001, 0.1, 0.5, 2.0])


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(EFFECTS, EFFECTS), min_size=2, max_size=4), st.integers(2, 10), st.integers(0, 2**32)
)
def test_a_difference_is_claimed_exactly_if_its_corrected_interval_excludes_0(
    effects: list[tuple[float, float]], replications: int, seed: int
) -> None:
    """Samples have a true difference, which noise may hide, or none."""
    random = np.random.default_rng(seed)
    planted = np.array(effects).T[:, :, None]
    noise = random.normal(0, 0.1, (2, len(effects), replications)) + random.normal(
        0, 0.3, (2, 1, replications)
    )
    energies_j, slowdowns = np.maximum(3 + planted + noise, 1.1)
    verdict = judge(averages(energies_j, slowdowns))
    assert set(verdict.least.members) == expected_group(energies_j)
    assert set(verdict.quickest.members) == expected_group(slowdowns)


def page_averages(**policies: tuple[float, float]) -> list[Result]:
    """Return averages over four seeds with these means and little noise."""
    noise = (-0.002, -0.001, 0.001, 0.002)
    signs = itertools.cycle([1, -1])
    return [
        seeds([page_run(name.replace("_", "-"), energy_j + sign * e, slowdown + sign * e) for e in noise])
        for (name, (energy_j, slowdown)), sign in zip(policies.items(), signs, strict=False)
    ]


def test_policies_of_equal_energy_are_compared_by_delay() -> None:
    """The policy with less delay is first, with its fraction of the delay of the other."""
    runs = page_averages(
        always_on=(33.0, 1.0), psm=(3.58, 1.3), bsd=(3.05, 1.04), anticipate=(2.9, 1.75), lpsm=(2.899, 3.25)
    )
    assert conclude(runs, [runs[1]]) == (
        "anticipate uses as little energy as lpsm (2.90 J per page, less than 0.05 % apart, 19 % less than"
        " psm) at 33 % of its added delay, and pages take 1.75 times as long as without power saving."
        " bsd delays least: pages take 1.04 times as long as without power saving, at 5.2 % more energy"
        " than lpsm."
    )
    assert conclude([*runs[:2], *runs[3:]], [runs[1]]).startswith(
        "anticipate uses as little energy as lpsm ("
    )
    assert conclude(runs[3:]) == (
        "anticipate uses as little energy as lpsm (2.90 J per page, less than 0.05 % apart) at 33 % of its"
        " added delay, and delays least: pages take 1.75 times as long as without power saving."
    )


def test_the_conclusion_from_a_single_seed_claims_nothing_beyond_that_run() -> None:
    """The numbers are those of this run; a recording has no other seeds."""
    runs = [page_run("psm", 3.58, 1.27), page_run("lpsm", 2.89, 3.25)]
    text = conclude(runs, runs[:1])
    assert text == (
        "In this run, lpsm uses the least energy (2.89 J per page, 19 % less than psm), and pages"
        " take 3.25 times as"
        " long as without power saving. psm delays least: pages take 1.27 times as long as without"
        " power saving, at"
        f" 24 % more energy than lpsm. {HINT}"
    )
    close = conclude([page_run("psm", 2.9, 2.0), page_run("lpsm", 2.89, 3.0)])
    assert (
        "psm uses as little energy as lpsm (2.90 and 2.89 J per page, less than 1 % apart) at 50 % of"
        in close
    )
    recorded = conclude(runs, runs[:1], is_synthetic=False)
    assert recorded.endswith("One recording cannot tell a difference from noise.")


def test_the_conclusion_states_that_there_are_too_few_seeds() -> None:
    """Different means are not called equal because two seeds vary."""
    psm = seeds([page_run("psm", 3.0, 1.5), page_run("psm", 5.0, 1.1)])
    bsd = seeds([page_run("bsd", 4.0, 4.0), page_run("bsd", 2.0, 1.0)])
    verdict = judge([psm, bsd])
    assert verdict.least.is_undecided
    assert verdict.quickest.is_undecided
    assert conclude([psm, bsd]) == (
        "bsd uses the least energy on average (3.00 ± 12.71 J per page), but over 2 seeds the difference from"
        " psm (4.00 ± 12.71) is not significant. psm delays least on average (1.30 ± 2.54 times the page time"
        " without power saving), but over 2 seeds the difference from bsd (2.50 ± 19.06) is not significant."
    )


def test_the_cheapest_of_equally_fast_policies_is_named() -> None:
    """Exceptions are the policy with the least energy of all, and equal energies."""
    lpsm, bsd, dynamic = (
        page_run("lpsm", 2.9, 3.25),
        page_run("bsd", 3.05, 1.04),
        page_run("dynamic", 9, 1.04),
    )
    assert conclude([lpsm, bsd, dynamic]).split(". ")[1] == (
        "bsd and dynamic delay least: pages take 1.04 times as long as without power saving (the same); of"
        " these, bsd uses the least energy, 5.2 % more than lpsm"
    )
    assert "of these" not in conclude([bsd, dynamic, page_run("lpsm", 4.0, 3.25)])


def test_the_always_on_policy_is_excluded_from_comparisons_of_delay() -> None:
    """The always-on radio may have the least energy, but delays are relative to it."""
    runs = page_averages(always_on=(2.0, 1.0), psm=(3.0, 1.3), bsd=(3.2, 1.1))
    assert conclude(runs, [runs[1]]) == (
        "always-on uses the least energy (2.00 J per page, 33 % less than psm). bsd delays least:"
        " pages take 1.10 times"
        " as long as without power saving, at 60 % more energy than always-on."
    )


def test_the_always_on_policy_is_named_separately_if_delays_are_absolute() -> None:
    """An always-on radio delivers a message earlier than any policy that saves power."""
    runs = [device_run("always-on", 0.1, 0.04), device_run("bsd", 0.02, 0.9), device_run("lpsm", 0.01, 0.7)]
    assert "and delays least of the policies that save power: 99 % of the downlink" in conclude(runs)
    assert "and delays least: 99 % of the downlink" in conclude(runs[1:])


def test_the_conclusion_does_not_mention_a_hidden_policy() -> None:
    """The conclusion mentions only rows of the table."""
    psm, lpsm, bsd = page_averages(psm=(3.58, 1.3), lpsm=(2.9, 3.25), bsd=(3.05, 1.04))
    assert judge([lpsm, bsd], [psm]).reference is None
    assert conclude([lpsm], [psm]) == (
        "lpsm uses 2.90 J per page, and pages take 3.25 times as long as without power saving."
    )
    assert "psm" not in conclude([lpsm, bsd], [psm]).replace("lpsm", "")


def test_equal_delays_of_the_policies_that_save_power_are_stated() -> None:
    """Always-on has less delay than any of them."""
    runs = page_averages(always_on=(33.0, 1.0), psm=(3.58, 1.3), bsd=(3.05, 1.3))
    assert "No policy that saves power delays less than another: " in conclude(runs)
    assert "No policy delays less than another: " in conclude(runs[1:])


def test_the_reason_for_a_saving_is_the_state_that_saves_most() -> None:
    """A second less awake saves a joule, and beacons cost the same."""
    one, other = (
        page_run(name, energy, 1.5, usage=Usage(awake_s, 5.0, beacons, awake_s, 1.0, beacons / 10))
        for name, energy, awake_s, beacons in (("bsd", 2.0, 0.5, 5), ("psm", 3.5, 1.5, 10))
    )
    assert judge([one, other]).reason == ("awake", 0.5, 1.5)
    assert ", because it is awake 500 ms a page instead of 1.50 s" in conclude([one, other])
    slow = page_run("bsd", 2.0, 1.5, usage=Usage(1.5, 5.0, 5, 1.5, 1.0, 0.5))
    assert judge([slow, other]).reason == ("beacons", 5, 10)
    assert ", because it receives 5.0 beacons a page instead of 10" in conclude([slow, other])
    quick = page_run("always-on", 20.0, 1.0, usage=Usage(20.0, 0.0, 0, 20.0, 0.0, 0.0))
    assert "always-on uses the least energy (20.0 J per page, 5.7 times the energy of psm). psm uses" in (
        conclude([quick, other], [other], max_latency_s=0.1)
    )


def test_the_conclusion_counts_failed_pages() -> None:
    broken, one = page_run("psm", 1.0, math.nan, failure="abandoned"), page_run("bsd", 2.0, 1.5).blocks[0]
    pages = {name: np.repeat(values, 2) for name, values in one.pages.items()}
    pages |= {"page": np.array([1, 2]), "slowdown": np.array([1.5, math.nan])}
    half = Result((replace(one, pages=pages, failures={2: "abandoned"}, reports_failures=True),))
    text = conclude([broken, half, page_run("lpsm", 3.0, 2.0)])
    assert text.startswith(
        "In this run, bsd uses the least energy (1.00 J per page, 67 % less than lpsm), because it is awake"
        " 500 ms a page instead of 1.00 s, and delays least"
    )
    assert "psm completed no page. Under bsd, 1 of 2 pages failed." in text
    assert conclude([broken, broken]).startswith("In this run, no policy completed a page.")


def test_the_conclusion_on_devices_has_the_current_and_the_latency() -> None:
    """Power replaces current without a supply voltage; lost messages are counted."""
    runs = [
        device_run("psm", 0.02, 0.14),
        device_run("twt", 0.01, 2.1, lost=2),
        device_run("dynamic", 0.1, 0.04),
    ]
    assert conclude(runs, runs[:1]) == (
        "In this run, twt draws the least current (5.0 mA, 50 % less than psm), and 99 % of the"
        " downlink messages arrive"
        " within 2.10 s. dynamic delays least: 99 % of the downlink messages arrive within 40.0 ms,"
        " at 10 times the"
        f" current of twt. Under twt, 2.0 % of the messages were lost. {HINT}"
    )
    assert "twt uses the least power (10.0 mW)" in conclude(
        [device_run("twt", 0.01, 2.1, volts=None), device_run("psm", 0.02, 2.1)]
    ).replace(", 50 % less than psm", "")
    silent = conclude([device_run("psm", 0.02, 0.0), *runs[1:]])
    assert "psm delivered no message." in silent


def test_an_idle_station_without_messages_has_no_delays() -> None:
    """The hint to add seeds is also omitted, since they would not differ."""
    comparison = compare(["psm", "psm:listen_interval=3"], trace="ping:on=false,stretch_s=60", pages=1)
    assert comparison.conclusion() == (
        "In this run, psm:listen_interval=3 uses the least power (55.0 mW, 15 % less than psm), because it"
        " receives 199 beacons a minute instead of 599."
    )


def test_a_delay_limit_excludes_slow_policies() -> None:
    """The limit is on the 99th percentile of latencies, or on the mean delay of pages."""
    devices = [device_run("psm", 0.02, 0.14), device_run("twt", 0.01, 2.1), device_run("dynamic", 0.1, 0.04)]
    assert conclude(devices, devices[:1], max_latency_s=0.3).startswith(
        "In this run, with 99 % of the messages delivered within 300 ms, psm draws the least current"
        " (10 mA, 80 % less"
        " than dynamic), and 99 % of the downlink messages arrive within 140 ms. twt draws 50 % less"
        " current than psm, but"
        " 99 % of the downlink messages arrive within 2.10 s."
    )
    assert conclude(devices, max_latency_s=0.001).startswith(
        "In this run, no policy meets the limit of 1 ms; dynamic comes closest, where 99 % of the"
        " downlink messages"
        " arrive within 40.0 ms."
    )
    assert conclude(devices, max_latency_s=5).endswith(f"arrive within 2.10 s. {HINT}")
    pages = page_averages(psm=(3.58, 1.3), lpsm=(2.9, 3.25), bsd=(3.05, 1.04))
    assert conclude(pages, pages[:1], max_latency_s=0.1) == (
        "With pages delayed by at most 100 ms on average, bsd uses the least energy (3.05 J per"
        " page, 15 % less than psm),"
        " and pages are delayed by 40.0 ms on average. lpsm uses 4.9 % less energy than bsd, but"
        " pages are delayed by"
        " 2.25 s on average."
    )


def test_the_conclusion_has_a_sentence_per_kind_of_station() -> None:

    def kind(name: str, policy: str, energy_j: float, own: str = "") -> Result:
        return page_run(policy, energy_j, 1.5, kind=name, station_policy=own)

    runs = [kind("reader", "psm", 3.0), kind("laptop", "psm", 30.0, "always-on"), kind("phone", "psm", 2.0)]
    runs += [kind("reader", "bsd", 2.0), kind("laptop", "bsd", 30.0, "always-on"), kind("phone", "bsd", 2.5)]
    assert conclude(runs, runs[:3]) == (
        "In this run, for reader, bsd uses the least energy (2.00 J per page, 33 % less than psm),"
        " and pages take 1.50"
        " times as long as without power saving. For phone, psm uses the least energy (2.00 J per"
        " page, 20 % less than"
        f" bsd), and pages take 1.50 times as long as without power saving. {HINT}"
    )


def test_all_reports_have_the_same_conclusion() -> None:
    """The reports are the terminal, JSON, and the HTML report, which begins with the conclusion."""
    comparison = compare(["bsd:p=1"], pages=3, workers=1)
    text = comparison.conclusion()
    assert to_dict(comparison)["conclusion"] == text
    assert text in " ".join(str(comparison).split())
    page = html_of(comparison, {"command": "", "psm_sim": "", "packages": {}, "files": {}}, {})
    assert page.index(text) < page.index("<table")


def test_policies_with_equal_means_are_rarely_called_different() -> None:
    """At most one of twenty families of five policies has a difference, within three standard errors."""
    random = np.random.default_rng(27)
    families = 60
    wrong_energy = wrong_delay = 0
    for _ in range(families):
        energies_j, slowdowns = random.normal(3, 0.1, (2, 5, 10)) + random.normal(0, 0.1, (2, 1, 10))
        verdict = judge(averages(energies_j, slowdowns))
        wrong_energy += len(verdict.least.members) < 5
        wrong_delay += len(verdict.quickest.members) < 5
    limit = families * (0.05 + 3 * math.sqrt(0.05 * 0.95 / families))
    assert wrong_energy <= limit
    assert wrong_delay <= limit
