"""Settings of drivers: valid policies with complete API calls."""

from __future__ import annotations

import re

import pytest

from psm_sim.campaign.driver_settings import DRIVERS, Setting, settings_of
from psm_sim.network.chip_profiles import load_profile, profile_names
from psm_sim.network.topology_sections import BeaconParameters
from psm_sim.policies import make_policy
from psm_sim.policies.dynamic import DRIVER_DEFAULTS


def settings(driver: str, dtim: int = 1, longest_doze_ms: float | None = None) -> list[Setting]:
    """Return the settings of a driver on a chip with TWT."""
    beacon = BeaconParameters(interval_ms=102.4, dtim_period=dtim)
    return settings_of(driver, beacon, has_twt=True, longest_doze_ms=longest_doze_ms)


@pytest.mark.parametrize("dtim", [1, 2, 3, 10, 30])
@pytest.mark.parametrize("driver", DRIVERS)
def test_no_two_driver_settings_have_the_same_policy(driver: str, dtim: int) -> None:
    """Names differ, and calls have no placeholders left."""
    offered = settings(driver, dtim)
    assert (
        len({setting.policy for setting in offered})
        == len({setting.name for setting in offered})
        == len(offered)
    )
    for setting in offered:
        make_policy(setting.policy)
        assert not re.search("[{}]", " ".join(setting.calls))
        assert bool(setting.calls) != (setting.needs or driver == "generic" or _is_twt_without_call(setting))


def _is_twt_without_call(setting: Setting) -> bool:
    return setting.name.startswith("TWT") and not setting.calls


@pytest.mark.parametrize("driver", [name for name in DRIVERS if name != "generic"])
def test_the_default_of_a_driver_equals_the_dynamic_policy_with_the_stack_of_that_driver(driver: str) -> None:
    """The policy ``dynamic`` has the same time awake."""
    (default,) = [setting for setting in settings(driver, 3) if setting.is_default]
    stack = DRIVER_DEFAULTS[driver]
    assert default.policy == f"dynamic:timeout_ms={stack.timeout_ms:g},listen_interval={3 * stack.dtims}"
    assert default.dtim_share(3) == 1


@pytest.mark.parametrize(
    ("interval", "dtim", "share"),
    [(1, 3, 1), (3, 3, 1), (9, 3, 1 / 3), (10, 3, 0.1), (2, 3, 0.5), (4, 2, 0.5)],
)
def test_the_share_of_dtim_beacons_follows_from_common_multiples(
    interval: int, dtim: int, share: float
) -> None:
    """Listen intervals and DTIM periods both count the beacons of the access point."""
    assert Setting("", "psm", wake_beacons=interval).dtim_share(dtim) == pytest.approx(share)
    assert sum(not n % interval for n in range(0, 900 * dtim, dtim)) == pytest.approx(900 * share, rel=0.01)


def test_the_share_of_dtim_beacons_is_0_for_twt_and_unknown_for_a_varying_interval() -> None:
    """Group addressed frames follow DTIM beacons."""
    shares = {setting.name.split()[0]: setting.dtim_share(1) for setting in settings("esp-idf")}
    assert shares["TWT"] == 0
    assert shares["anticipate"] is None


def test_a_driver_that_rounds_listen_intervals_offers_only_multiples_of_the_dtim_period() -> None:
    """The driver of the nRF70 would turn 10 into 9."""
    intervals = {setting.wake_beacons for setting in settings("nrf70", 3)} - {0, None, 1}
    assert intervals == {3, 9}


@pytest.mark.parametrize(("limit_ms", "doze"), [(300.0, "204.8"), (150.0, "102.4"), (20.0, "102.4")])
def test_the_delay_bound_limits_the_dozes_of_policies_that_need_a_new_driver(
    limit_ms: float, doze: str
) -> None:
    """The limit is a number of whole beacon intervals, at least one."""
    policies = {setting.policy for setting in settings("esp-idf", longest_doze_ms=limit_ms) if setting.needs}
    assert f"anticipate:max_ms={doze}" in policies
    assert f"bsd:max_sleep_ms={doze}" in policies


@pytest.mark.parametrize("name", profile_names())
def test_every_chip_has_a_driver(name: str) -> None:
    assert load_profile(name).driver in {*DRIVERS, ""} - {"generic"}
