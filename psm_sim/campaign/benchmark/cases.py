"""Cases of the benchmark: traffic, radios, prices of delay and seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.input_files import bundled_dir, file_digest, read_toml
from psm_sim.network.chip_profiles import load_profile
from psm_sim.network.topology_sections import PowerParameters
from psm_sim.policies import POLICIES
from psm_sim.simulation.scenario import Scenario
from psm_sim.workload.loading import find_trace


class Traffic(NamedTuple):
    """Kind of traffic: trace, number of pages, group such as :data:`PAGES`, and topology keys to set."""

    trace: str
    pages: int
    group: str
    settings: Mapping[str, float] = {}


PAGES, DEVICES, CAPTURES = "pages", "devices", "captures"
"""Groups of traffic: page views, whose requests wait for earlier replies; devices; replayed packets."""

# Group addressed frames of presets/household.toml.
_HOUSEHOLD = {"access_point.group_per_s": 0.2317, "access_point.group_bytes": 81}

TRAFFIC = {
    "ucb": Traffic("ucb", 50, PAGES),
    "shifting": Traffic("shifting", 160, PAGES),
    "modern": Traffic("modern", 5, PAGES),
    "recorded": Traffic("recorded.har.gz", 5, PAGES),
    "site": Traffic("site.pcap.gz", 1, CAPTURES),
    "pipelining": Traffic("pipelining.pcap.gz", 1, CAPTURES),
    "mqtt-sensor": Traffic("mqtt-sensor.pcap.gz", 1, CAPTURES),
    "mqtt-files": Traffic("mqtt-files.pcap.gz", 1, CAPTURES),
    "mqtt": Traffic("mqtt", 1, DEVICES),
    "report": Traffic("mqtt:keepalive.on=false,command.on=false,publish.period_s=900", 2, DEVICES),
    "report-udp": Traffic("ping:period_s=60,reply_bytes=0", 3, DEVICES),
    "ping": Traffic("ping:stretch_s=300", 1, DEVICES),
    "lan-ping": Traffic("ping:sender=network,period_s=5", 1, DEVICES, {"links.wired.latency_ms": 0}),
    "push": Traffic("push", 1, DEVICES),
    "door": Traffic("door", 1, DEVICES),
    "ota": Traffic("bulk:period_s=600", 1, DEVICES),
    "broadcast": Traffic("idle", 1, DEVICES, _HOUSEHOLD),
}
"""Traffic by name. A page of a device is a period, whose length the trace defines."""

RADIOS = {
    "three-node": ("three-node", ""),
    "esp32-c3": ("modern", "esp32-c3"),
    "cyw43439": ("modern", "cyw43439"),
    "nrf7002": ("modern", "nrf7002"),
}
"""Topology and chip profile of each radio. The first one is the card of the published evaluations."""

PRICES = (0.1, 1.0, 10.0)
"""Prices of a second of delay, relative to the cost of a second awake instead of asleep."""

PRICE, PRICE_W = "{price}", "{price_w}"
"""Placeholders in a policy spec for the price of the case, relative and in watts."""

PRICED = {"anticipate": f"anticipate:price={PRICE}", "stpm": f"stpm:delay_w={PRICE_W}"}
"""Built-in policies with a price, and their specs at the price of the case."""

UNSEEN = "predict:arrivals=false"
"""Policy ``predict`` without the arrival times at the access point, which no driver knows."""


@cache
def radio_power(radio: str) -> PowerParameters:
    """Return the power of a radio."""
    topology, chip = RADIOS[radio]
    return Scenario(topology=topology, settings=radio_settings(chip)).resolve_topology().power


class Case(NamedTuple):
    """Traffic, radio and relative price of delay."""

    traffic: str
    radio: str
    price: float

    @property
    def price_w(self) -> float:
        """Price of delay in watts."""
        power = radio_power(self.radio)
        return self.price * (power.awake_w - power.asleep_w)

    @property
    def free(self) -> Case:
        """Same case at the first price. Policies that ignore the price are simulated at this price only."""
        return self._replace(price=PRICES[0])

    def __str__(self) -> str:
        return f"{self.traffic}, {self.radio}, price {self.price:g}"


@dataclass(frozen=True)
class BenchmarkPlan:
    """Seeds, traffic and radios of a benchmark."""

    seeds: tuple[int, ...]
    traffic: Mapping[str, Traffic] = field(default_factory=lambda: TRAFFIC)
    radios: tuple[str, ...] = tuple(RADIOS)

    @property
    def cases(self) -> tuple[Case, ...]:
        """All combinations of traffic, radio and price."""
        return tuple(
            Case(traffic, radio, price)
            for traffic in self.traffic
            for radio in self.radios
            for price in PRICES
        )

    def scenario_of(self, case: Case, seed: int) -> Scenario:
        """Return the scenario of a case and seed. It is the same at all prices."""
        traffic, (topology, chip) = self.traffic[case.traffic], RADIOS[case.radio]
        settings = {**radio_settings(chip), **traffic.settings}
        return Scenario(_trace(traffic), topology, traffic.pages, seed, settings)

    def data_digests(self) -> dict[str, str]:
        """Return the SHA-256 digests of the files of traffic and radios."""
        folder, radios = bundled_dir("topologies"), [RADIOS[name] for name in self.radios]
        paths = [folder / f"{topology}.toml" for topology, _ in radios]
        paths += [folder / "profiles" / f"{chip}.toml" for _, chip in radios if chip]
        paths += [find_trace(_trace(traffic).name) for traffic in self.traffic.values()]
        return {f"{path.parent.name}/{path.name}": file_digest(path) for path in dict.fromkeys(paths)}


JUDGING = BenchmarkPlan(tuple(range(70001, 70011)))
"""Seeds on which policies are judged. No policy may be tuned on seeds from 70001 on."""

QUICK = BenchmarkPlan(JUDGING.seeds[:1], radios=("three-node", "nrf7002"))
"""Part of :data:`JUDGING` that runs in one or two minutes."""


def radio_settings(chip: str) -> Mapping[str, object]:
    """Return the values of a chip profile except its TCP stack, which the topology of the case selects."""
    values = load_profile(chip).values if chip else {}
    return {key: value for key, value in values.items() if key != "tcp.stack"}


def _trace(traffic: Traffic) -> Spec:
    spec = Spec.parse(traffic.trace, "trace")
    bundled = bundled_dir("traces") / spec.name
    return Spec(str(bundled), spec.items) if bundled.exists() else spec


def built_in() -> list[str]:
    """Return the built-in policies with their defaults, :data:`UNSEEN`, and the specs of :data:`PRICED`."""
    return [*POLICIES.names(), UNSEEN, *PRICED.values()]


def is_priced(policy: str) -> bool:
    """Return whether a policy spec names the price."""
    return PRICE in policy or PRICE_W in policy


def runs_of(policy: str, cases: tuple[Case, ...]) -> list[Case]:
    """Return the cases to simulate: all if the policy names the price, else those at the first price."""
    return [case for case in cases if is_priced(policy) or case == case.free]


def policy_of(text: str, case: Case) -> Spec:
    """Return the spec of a policy in a case.

    A user's policy runs in a second process, in which it cannot see the simulated network.
    """
    named = text.replace(PRICE, f"{case.price:g}").replace(PRICE_W, f"{case.price_w:.9g}")
    spec = Spec.parse(named, "policy")
    if spec.name in POLICIES.names():
        return spec
    return Spec("entry", (("policy", str(spec)),), label=str(spec))


def read_plan(path: Path) -> BenchmarkPlan:
    """Read ``seeds``, and the number of pages of each file in ``[recordings]``, from a TOML file.

    Raises
    ------
    InputError
        If the file cannot be read, has no seeds, or has other keys.
    """
    values = read_toml(path, "file of seeds")
    seeds, recordings = values.pop("seeds", None), values.pop("recordings", {})
    try:
        wrong = values or not seeds or any(int(each) < 0 for each in [*seeds, *recordings.values()])
    except (TypeError, ValueError, AttributeError):
        wrong = True
    if wrong:
        raise InputError(
            f"{path} is no file of seeds; expected seeds = [5, 6], and a number of pages for each file in"
            " [recordings]."
        )
    own = {
        Path(file).name: Traffic(str(path.parent / file), pages, PAGES if ".har" in file else CAPTURES)
        for file, pages in recordings.items()
    }
    return BenchmarkPlan(tuple(seeds), {**TRAFFIC, **own})
