"""Cells of the benchmark: traffic, radios, prices of delay and seeds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from psm_sim.common.component_spec import Spec
from psm_sim.common.hashing import file_digest
from psm_sim.common.input_files import bundled_dir
from psm_sim.network.chip_profiles import load_profile
from psm_sim.policies import POLICIES
from psm_sim.simulation.scenario import Scenario

JUDGING_SEEDS = range(70001, 70011)
"""Seeds on which policies are judged. No policy may be tuned on seeds from 70001 on."""

TUNING_SEEDS = range(1, 1001)
"""Seeds that everybody may use."""

QUICK = 3
"""Number of judging seeds of a quick run."""

PRICES_W = (0.1, 1.0, 10.0)
"""Prices of a second of delay, in joules."""

RECORDED = "recorded"
"""Traffic of the recorded pages, which are a HAR file and not the profile of a trace."""

TRAFFIC = {
    "ucb": 50, "shifting": 320, "modern": 10, RECORDED: 5,
    "mqtt": 1, "push": 1, "ping": 1,
}  # fmt: skip
"""Number of pages of each traffic. A page of mqtt and push is an hour, and one of ping ten minutes."""

RADIOS = {
    "three-node": ("three-node", ""),
    "esp32-c3": ("modern", "esp32-c3"),
    "cyw43439": ("modern", "cyw43439"),
    "nrf7002": ("modern", "nrf7002"),
}
"""Topology and chip profile of each radio. The first one is the card of the published evaluations."""

PRICE = "{price}"
"""Placeholder in a policy spec for the price of the cell."""

TOLD = (f"anticipate:price={PRICE}", f"stpm:delay_w={PRICE}")
"""Built-in policies at the price of the cell. They also take part with their default price."""


class Cell(NamedTuple):
    """Traffic, radio and price of delay in watts."""

    traffic: str
    radio: str
    price_w: float

    def __str__(self) -> str:
        return f"{self.traffic}, {self.radio}, {self.price_w:g} W"


CELLS = tuple(
    Cell(traffic, radio, price_w) for traffic in TRAFFIC for radio in RADIOS for price_w in PRICES_W
)


def built_in() -> list[str]:
    """Return the specs of all built-in policies with their defaults, and of those told the price."""
    return [*POLICIES.names(), *TOLD]


def scenario_of(cell: Cell, seed: int) -> Scenario:
    """Return the scenario of a cell. It does not depend on the price."""
    topology, chip = RADIOS[cell.radio]
    settings = load_profile(chip).values if chip else {}
    return Scenario(_trace(cell.traffic), topology, TRAFFIC[cell.traffic], seed, settings)


def policy_of(text: str, cell: Cell) -> Spec:
    """Return the spec of a policy in a cell.

    A user's policy runs in a second process, in which it cannot see the simulated network.
    """
    spec = Spec.parse(text.replace(PRICE, f"{cell.price_w:g}"), "policy")
    if spec.name in POLICIES.names():
        return spec
    return Spec("entry", (("policy", str(spec)),))


def data_digests() -> dict[str, str]:
    """Return the SHA-256 digests of the files of traffic and radios."""
    folder = bundled_dir("traces")
    traces = [*(folder / f"{name}.toml" for name in TRAFFIC if name != RECORDED), folder / _RECORDING]
    chips = [f"profiles/{chip}" for _, chip in RADIOS.values() if chip]
    names = dict.fromkeys([topology for topology, _ in RADIOS.values()] + chips)
    paths = traces + [bundled_dir("topologies") / f"{name}.toml" for name in names]
    return {path.name: file_digest(path) for path in paths}


_RECORDING = "recorded.har.gz"


def _trace(traffic: str) -> Spec:
    return Spec(str(bundled_dir("traces") / _RECORDING) if traffic == RECORDED else traffic)


def runs_of(policy: str) -> Iterator[Cell]:
    """Yield the cells in which a policy runs: all, or one per traffic and radio if it ignores the price."""
    return (cell for cell in CELLS if PRICE in policy or cell.price_w == PRICES_W[0])
