"""Advice on settings: minimum energy within the bound, ties, and lost messages."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psm_sim.campaign.advice import REPLICATIONS, Advice, DelayVerdict, SettingRow, advise, choose
from psm_sim.campaign.driver_settings import NEW_DRIVER, Setting
from psm_sim.common.summary_stats import Interval, confidence_interval
from psm_sim.reporting.advice_sentences import answer
from psm_sim.simulation import Scenario
from psm_sim.workload import load_workload
from tests.simulation.test_verdict import device_run

OFF = Setting("off", "always-on", ("off()",), 1)
PUSH = Scenario("push:stretch_s=1200,period_s=10", pages=1, profile="esp32-c6")


def listen(interval: int) -> Setting:
    """Return a setting that wakes at a listen interval."""
    return Setting(f"LI {interval}", f"psm:listen_interval={interval}", (f"listen({interval})",), interval)


def advice_on(
    *settings: Setting, scenario: Scenario = PUSH, limit_s: float | None = None, seeds: int = 4
) -> Advice:
    """Return the advice on *settings* and on always-on."""
    return advise([OFF, *settings], scenario, limit_s, seeds, workers=1)


def verdicts(advice: Advice) -> dict[str, DelayVerdict]:
    """Return the verdict on each setting."""
    return {row.setting.name: row.verdict for row in advice.rows}


@pytest.mark.parametrize(
    ("limit_s", "best"), [(None, "LI 10"), (1.3, "LI 10"), (0.4, "LI 3"), (0.15, "LI 1"), (0.05, "off")]
)
def test_the_setting_of_minimum_energy_within_the_bound_is_ranked_first(
    limit_s: float | None, best: str
) -> None:
    """A frame waits for at most a listen interval, plus 21 ms in transit."""
    advice = advice_on(listen(1), listen(3), listen(10), limit_s=limit_s)
    for row in advice.rows:
        assert (row.verdict is DelayVerdict.WITHIN) == (limit_s is None or row.delay_s.high <= limit_s)
    within = [row for row in advice.rows if row.verdict is DelayVerdict.WITHIN]
    assert within[0].setting.name == best
    assert [row.rank for row in within] == list(range(1, len(within) + 1))
    assert [*advice.rows[: len(within)]] == within
    energies = [row.energy_j for row in within]
    assert energies == sorted(energies)


def test_a_cheaper_setting_that_misses_group_addressed_frames_is_the_second_choice() -> None:
    """The answer names the setting with its risk."""
    advice = advice_on(listen(1), listen(3), listen(10), limit_s=0.4)
    assert advice.best is not None
    assert advice.second is not None
    assert (advice.best.setting.name, advice.second.setting.name) == ("LI 1", "LI 3")
    assert any(
        sentence.startswith("LI 3 draws ") and "33 % of the group addressed frames" in sentence
        for sentence in answer(advice)
    )


def test_the_answer_names_the_bound_that_would_allow_a_much_cheaper_setting() -> None:
    """A setting with 1.1 times the bound draws a fraction of the current."""
    scenario = Scenario(PUSH.trace, pages=1, profile="esp32-c6", settings={"beacon.dtim_period": 3})
    advice = advice_on(listen(3), scenario=scenario, limit_s=0.3)
    assert advice.best is not None
    assert advice.best.setting.name == "off"
    assert advice.beyond is not None
    assert advice.beyond.setting.name == "LI 3"
    text = " ".join(answer(advice))
    assert "The bound costs " in text
    assert "With a bound of 3" in text


MULTIPLE = st.sampled_from([0.1, 0.5, 0.9, 1.05, 1.2, 1.3, 3.0])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(0.001, 1.0), MULTIPLE, st.sampled_from([0, 1, 2, 3])), min_size=1))
def test_the_answer_names_a_setting_that_is_ten_times_cheaper_if_there_is_such_a_setting(
    settings_: list[tuple[float, float, int]],
) -> None:
    """Settings within the bound, or up to 25 % beyond it, are compared."""
    rows = [SettingRow(OFF, device_run("always-on", 1.0, 0.01), Interval(0.01, 0.0, 1), DelayVerdict.WITHIN)]
    for power_w, delay_s, wake_beacons in settings_:
        verdict = DelayVerdict.WITHIN if delay_s <= 1 else DelayVerdict.ABOVE
        setting = Setting(f"S {len(rows)}", "psm", (), wake_beacons)
        rows.append(
            SettingRow(setting, device_run("psm", power_w, delay_s), Interval(delay_s, 0.0, 1), verdict)
        )
    choice = choose(rows, 3, 1.0)
    assert choice.best is not None
    assert choice.best.setting.dtim_share(3) == 1
    near = [row for row in rows if row.delay_s.mean <= 1.25]
    named = [choice.best, choice.second, choice.beyond, *choice.tied]
    least = min(row.energy_j for row in named if row is not None)
    assert least <= 10 * min(row.energy_j for row in near)


def test_the_setting_nearest_to_the_bound_is_named_if_no_setting_meets_the_bound() -> None:
    """The network alone exceeds the bound."""
    advice = advice_on(listen(1), limit_s=0.001)
    assert advice.best is None
    first, second = answer(advice)
    assert first == "No setting is within the bound on the 99th percentile of the latency, 1 ms."
    assert second.startswith("Nearest is off: the 99th percentile of the latency is 2")


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        ("dynamic:timeout_ms=100", "The default of the driver, default, draws "),
        ("psm:listen_interval=1", "This is"),
    ],
)
def test_the_answer_compares_the_best_setting_with_the_default_of_the_driver(
    policy: str, sentence: str
) -> None:
    default = Setting("default", policy, (), 1, is_default=True)
    advice = advice_on(default, listen(1) if policy.startswith("dynamic") else listen(3))
    assert any(line.startswith(sentence) for line in answer(advice))


def test_a_network_that_delivers_nothing_has_no_remedy() -> None:
    """All frames are lost."""
    broken = Scenario(PUSH.trace, pages=1, profile="esp32-c6", settings={"faults.wired.loss": 1})
    (sentence,) = answer(advice_on(listen(1), scenario=broken))
    assert sentence == "No setting delivers the messages: at least 100 % are missing."


@pytest.mark.parametrize(
    ("dtim_period", "words"), [(1, "Select"), (3, "Of the settings clearly within the bound, select")]
)
def test_a_setting_close_to_the_bound_is_not_recommended(dtim_period: int, words: str) -> None:
    """The interval of its 99th percentile includes the bound.

    At a DTIM period of 3 the setting receives all group addressed frames, so it might be the best.
    """
    scenario = replace(PUSH, settings={"beacon.dtim_period": dtim_period})
    free = advice_on(listen(1), listen(3), scenario=scenario)
    delay_s = next(row.delay_s for row in free.rows if row.setting.name == "LI 3")
    assert delay_s.half_width > 0
    advice = advice_on(listen(1), listen(3), scenario=scenario, limit_s=delay_s.mean)
    assert verdicts(advice)["LI 3"] is DelayVerdict.UNCERTAIN
    assert advice.best is not None
    assert advice.best.setting.name == "LI 1"
    sentences = answer(advice)
    assert any(sentence.startswith(f"{words} LI 1: ") for sentence in sentences)
    assert any("Too close to the bound to decide: LI 3." in sentence for sentence in sentences)


def test_settings_of_equal_energy_share_a_rank_and_the_faster_setting_is_best() -> None:
    """The dozing power of the chip includes the beacons, so the listen interval costs no energy."""
    scenario = Scenario("push:stretch_s=1200,period_s=10", pages=1, profile="pixel-5")
    advice = advice_on(listen(10), listen(1), scenario=scenario)
    ranks = {row.setting.name: row.rank for row in advice.rows}
    assert ranks == {"LI 1": 1, "LI 10": 1, "off": 3}
    assert advice.best is not None
    assert advice.best.setting.name == "LI 1"
    assert advice.tied == ()
    assert advice.second is None


def test_a_faster_setting_of_rank_1_is_not_best_if_it_may_cost_more() -> None:
    """A difference of 7 % on two pages is not significant."""
    timeout = Setting("timeout", "dynamic:timeout_ms=100,listen_interval=10", (), 1)
    advice = advice_on(listen(1), timeout, scenario=Scenario("modern", pages=1, seed=2), seeds=2)
    rows = {row.setting.name: row for row in advice.rows}
    assert rows["LI 1"].rank == rows["timeout"].rank == 1
    assert rows["LI 1"].delay_s.mean > rows["timeout"].delay_s.mean
    assert advice.best is rows["LI 1"]
    assert advice.tied == (rows["timeout"],)
    ratio = rows["timeout"].energy_j / rows["LI 1"].energy_j
    words = f"Not significantly different with 2 seeds: timeout at {ratio:.2f} times the energy."
    assert any(sentence.startswith(words) for sentence in answer(advice))


def test_a_policy_that_needs_a_new_driver_is_never_named_as_the_best_setting() -> None:
    new = Setting("new", "psm:listen_interval=10", needs=NEW_DRIVER)
    advice = advice_on(listen(1), new)
    assert advice.best is not None
    assert advice.best.setting.name == "LI 1"
    assert [row.setting.name for row in advice.better] == ["new"]
    assert all(row.rank == 0 for row in advice.rows if row.setting.needs)
    assert any(sentence.startswith("With a new driver, new would draw") for sentence in answer(advice))


def test_a_policy_that_saves_little_is_not_called_better() -> None:
    advice = advice_on(listen(1), Setting("new", "psm:listen_interval=1", needs=NEW_DRIVER), limit_s=0.4)
    assert advice.better == ()
    assert any(sentence.startswith("No policy that needs a new driver") for sentence in answer(advice))


def test_a_setting_with_unknown_delay_is_not_named_as_a_cheaper_alternative() -> None:
    """One seed alone has messages that arrived."""
    off = SettingRow(OFF, device_run("always-on", 1.0, 0.01), Interval(0.01, 0.0, 2), DelayVerdict.WITHIN)
    unknown = SettingRow(
        listen(3), device_run("psm", 0.1, 0.2), Interval(0.2, float("inf"), 2), DelayVerdict.UNCERTAIN
    )
    measured = replace(unknown, delay_s=Interval(0.2, 0.1, 2))
    assert choose([off, unknown], 1, 0.2).beyond is None
    assert choose([off, measured], 1, 0.2).beyond is measured


def test_a_policy_that_needs_a_new_driver_runs_once_and_is_named_only_if_clearly_better() -> None:
    """The policy of the best setting is not named."""
    new = [Setting(f"new {n}", f"psm:listen_interval={n}", needs=NEW_DRIVER) for n in (1, 10)]
    advice = advise([OFF, listen(1), *new], PUSH, workers=1)
    seeds = {row.setting.name: len(row.result.replicates) for row in advice.rows}
    assert seeds == {"off": REPLICATIONS, "LI 1": REPLICATIONS, "new 1": 1, "new 10": 1}
    assert [row.setting.name for row in advice.better] == ["new 10"]
    assert {len(row.result.replicates) for row in advice_on(listen(1), *new, seeds=4).rows} == {4}


def test_after_one_seed_it_is_uncertain_whether_a_policy_near_the_bound_meets_the_bound() -> None:
    """The bound is 2 % above the delay of the policy."""
    new = Setting("new", "psm:listen_interval=3", needs=NEW_DRIVER)
    free = advise([OFF, new], PUSH, workers=1)
    delay_s = next(row.delay_s.mean for row in free.rows if row.setting is new)
    assert verdicts(advise([OFF, new], PUSH, 1.02 * delay_s, workers=1))["new"] is DelayVerdict.UNCERTAIN
    assert verdicts(advise([OFF, new], PUSH, 1.1 * delay_s, workers=1))["new"] is DelayVerdict.WITHIN


def test_no_setting_delivers_messages_if_the_association_expires_for_lack_of_keep_alives() -> None:
    settings = {"access_point.idle_limit_s": 60, "access_point.poll_idle": False}
    idle = Scenario(PUSH.trace, pages=1, profile="esp32-c6", settings=settings)
    advice = advice_on(listen(1), scenario=idle)
    assert set(verdicts(advice).values()) == {DelayVerdict.LOSES}
    assert advice.best is None
    assert answer(advice)[0].startswith("No setting delivers the messages")
    remedy = answer(advice)[1].partition("--set ")[2].rstrip(".")
    key, _, value = remedy.partition("=")
    alive = Scenario(PUSH.trace, pages=1, profile="esp32-c6", settings={**settings, key: value})
    assert advice_on(listen(1), scenario=alive).best is not None


def test_twt_with_too_little_capacity_loses_messages() -> None:
    """Voice needs more than a short period every two seconds."""
    twt = Setting("TWT", "twt", (), 0)
    advice = advice_on(twt, scenario=Scenario("cbr:stretch_s=20", pages=1, profile="nrf7002"))
    assert verdicts(advice) == {"off": DelayVerdict.WITHIN, "TWT": DelayVerdict.LOSES}


def test_the_delay_bound_applies_to_the_time_that_power_saving_adds_to_pages() -> None:
    """The added time has Student's interval."""
    scenario = Scenario("ucb", pages=5)
    advice = advice_on(listen(1), listen(10), scenario=scenario, limit_s=1.0)
    assert advice.has_pages
    row = next(row for row in advice.rows if row.setting.name == "LI 1")
    pairs = zip(row.result.replicates, advice.comparison.always_on.replicates, strict=True)
    expected = confidence_interval([run.page_time_s.mean - on.page_time_s.mean for run, on in pairs])
    assert row.delay_s == pytest.approx(expected)
    assert verdicts(advice) == {
        "off": DelayVerdict.WITHIN,
        "LI 1": DelayVerdict.WITHIN,
        "LI 10": DelayVerdict.ABOVE,
    }


def test_traffic_without_randomness_is_simulated_only_once() -> None:
    recorded = load_workload("push:stretch_s=600,period_s=10", 1, 1)
    advice = advise([OFF, listen(1), listen(3)], Scenario(recorded, profile="esp32-c6"), workers=1)
    assert advice.replications == 1
    assert any("single run" in sentence for sentence in answer(advice))
    assert advise([OFF], PUSH, workers=1).replications == REPLICATIONS


@pytest.mark.parametrize(("seeds", "last"), [(1, (2, 2, "settings")), (2, (2, 2, "seeds"))])
def test_progress_is_counted_in_settings_or_in_seeds(seeds: int, last: tuple[int, int, str]) -> None:
    seen: list[tuple[int, int, str]] = []
    advise(
        [OFF, listen(1)],
        PUSH,
        None,
        seeds,
        lambda done, total, _, unit="settings": seen.append((done, total, unit)),
        1,
    )
    assert seen[0] == (0, *last[1:])
    assert seen[-1] == last
