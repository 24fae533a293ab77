"""Settings of the interactive page, and the command line that they stand for."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cache

from psm_sim.common.component_spec import Spec
from psm_sim.workload import load_workloads

PAGES = ("1", "2", "5", "10", "20", "40", "80", "150")
"""Numbers of pages to choose from; the offline optimum is computed for at most 150."""

_USUAL_PAGES, _MAX_OBJECTS, _MAX_IDLE_S = 40, 600, 3600.0


@dataclass(frozen=True)
class Settings:
    """Values of the controls, as texts.

    Attributes
    ----------
    trace, profile : str
        Trace, and chip profile; an empty profile keeps the power of the topology.
    round_trip_ms : str
        Round-trip time between access point and server, in ms.
    dtim : str
        DTIM period, in beacons.
    policies : tuple of str
        Compared policies.
    price : str
        Price of delay of every ``anticipate`` without a price of its own, in W.
    pages, seeds, seed : str
        Number of pages, number of seeds, and first seed.
    """

    trace: str = "ucb"
    profile: str = ""
    round_trip_ms: str = "40"
    dtim: str = "1"
    policies: tuple[str, ...] = ("bsd", "lpsm", "anticipate")
    price: str = "1"
    pages: str = "40"
    seeds: str = "3"
    seed: str = "1"

    @property
    def arguments(self) -> list[str]:
        """The arguments of ``psm_sim`` that simulate these settings."""
        pairs = [("policy", self._priced(policy)) for policy in self.policies or ("psm",)]
        pairs += [("trace", self.trace), ("profile", self.profile), ("dtim", self.dtim)]
        pairs += [("set", f"links.wired.latency_ms={float(self.round_trip_ms) / 2:g}")]
        pairs += [("pages", self.pages), ("seed", self.seed), ("replications", self.seeds)]
        return [argument for name, value in pairs if value for argument in (f"--{name}", value)]

    @property
    def command(self) -> str:
        """The command line, quoted for a shell."""
        return shlex.join(["python", "-m", "psm_sim", *self.arguments])

    @property
    def has_price(self) -> bool:
        """Whether the price has an effect."""
        return any(self._priced(policy) != policy for policy in self.policies)

    def _priced(self, policy: str) -> str:
        spec = Spec.parse(policy, "policy")
        is_open = spec.name == "anticipate" and "price" not in spec.values
        return str(spec.with_("price", self.price)) if is_open else policy


@cache
def fitting_sizes(trace: str) -> dict[str, str]:
    """Return ``pages`` and ``seeds`` for a trace, so that the simulation takes seconds.

    There is one page for a trace without pages, whose messages last for minutes to hours. There is one seed
    for a recording that is the same for every seed.

    Raises
    ------
    InputError
        If the trace cannot be loaded.
    """
    first, second = (load_workloads(trace, _USUAL_PAGES, seed)[0] for seed in (1, 2))
    objects = sum(page.objects for page in first.pages)
    idle_s = sum(page.think_s for page in first.pages)
    share = min(1.0, _MAX_OBJECTS / objects, _MAX_IDLE_S / max(idle_s, 1.0)) if objects else 0.0
    pages = [number for number in PAGES if int(number) <= share * _USUAL_PAGES]
    is_same = (first.pages, first.messages) == (second.pages, second.messages)
    return {"pages": max(pages, key=int, default=PAGES[0]), "seeds": "1" if is_same else Settings().seeds}
