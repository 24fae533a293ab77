"""Energy in every mode: power times time, plus the energy of beacons, wake-ups and frames."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from psm_sim.policies import make_policy
from psm_sim.simulation import Scenario, run_comparison
from psm_sim.simulation.table import nested, usage_of
from tests.page_rows import page_rows

POLICIES = (
    "psm", "psm:listen_interval=4", "bsd", "lpsm", "anticipate", "dynamic", "predict", "uapsd", "always-on",
    "twt", "twt:early_end=true", "twt:uplink=wait", "twt:mantissa=100,exponent=10",
)  # fmt: skip
OPTIONS = (
    {"beacon.loss": 0.3},
    {"beacon.loss": 0.6, "beacon.loss_run": 4},
    {"power.transmit_w": 0.1},
    {"power.transmit_w": 1.6, "power.wake_j": 0.002, "station.wake_ms": 3.0},
    {"station.guard_ms": 2.0, "station.drift_ppm": 300},
    {"beacon.busy_air": 0.5, "beacon.loss": 0.1},
    {"station.keep_alive_s": 3.0},
    {"beacon.dtim_period": 3, "access_point.group_per_s": 2.0},
    {"access_point.release_on_uplink": False},
    {"power.frame_j": 0.0005},
    {"mac.model": "dcf"},
)
PROFILES = ("", "esp32", "cc3235", "bl616")
NOT_OVER_THE_AIR = (
    "beacon.busy_air",
    "station.guard_ms",
    "station.keep_alive_s",
    "access_point.group_per_s",
)


def check(result, power):
    """Check the law for a run, from its counts and times alone."""
    usage = usage_of(result.row)
    states_j = power.awake_w * (usage.awake_s - usage.transmit_s) + power.asleep_w * usage.asleep_s
    states_j += (power.transmit_w or 0.0) * usage.transmit_s
    fixed_j = power.beacon_j * usage.beacons + power.wake_j * usage.wake_ups
    fixed_j += power.frame_j * usage.frames
    assert usage.total_j == pytest.approx(states_j + fixed_j, rel=1e-9)
    assert usage.awake_s + usage.asleep_s == pytest.approx(result["simulated_s"], rel=1e-9)
    nested_row = nested(result.row, ["time_by_state_s", "energy_by_state_per_page_j"])
    times_s, joules = nested_row.values()
    assert sum(times_s.values()) == pytest.approx(result["simulated_s"], rel=1e-9)
    assert sum(joules.values()) == pytest.approx(result.energy_per_page_j)
    assert min(usage) >= 0
    assert sum(page.energy_j for page in page_rows(result)) <= usage.total_j * (1 + 1e-9)


@settings(max_examples=80)
@given(
    st.sampled_from(POLICIES),
    st.sampled_from(PROFILES),
    st.sets(st.integers(0, len(OPTIONS) - 1), max_size=4),
)
def test_the_energy_equals_the_sum_over_times_and_counts(policy, profile, chosen):
    """Policies, chips, losses, powers and medium access are random."""
    changes = {key: value for number in sorted(chosen) for key, value in OPTIONS[number].items()}
    if "mac.model" in changes:
        assume(make_policy(policy).service is None and not set(changes) & set(NOT_OVER_THE_AIR))
    scenario = Scenario("ucb", settings=changes, pages=2, profile=profile)
    check(run_comparison([policy], scenario).runs[0], scenario.resolve_topology().power)
