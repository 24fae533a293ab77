"""Drawing of pages: the parameters of a synthetic trace."""

from __future__ import annotations

from dataclasses import dataclass

from psm_sim.errors import InputError
from psm_sim.limits import MAX_S
from psm_sim.parameters import check_all, parameter
from psm_sim.workload.constant_distribution import AS_TRACE, constant_distribution
from psm_sim.workload.distribution_families import NAMES, Family, distribution_family

MAH = "mah"


@dataclass(frozen=True)
class PageSampling:
    """Drawing of pages from a profile: the parameters of a synthetic trace."""

    server_delay_ms: str = parameter(
        AS_TRACE,
        "time the server takes before it answers each object: a constant, 'none', 'trace' for the trace's "
        "own distribution, or a family with its mean and shape, as exponential:650 or gamma:650:2",
        unit="ms",
    )
    think: str = parameter(
        AS_TRACE,
        "distribution of think times: 'trace' for the trace's own, 'mah' for Berkeley's, or constant, "
        "uniform, exponential, gamma:K, lognormal:SIGMA, two-point:ZEROS with the trace's mean",
    )
    max_think_s: float | None = parameter(
        1000.0,
        "think times over this are rejected and drawn again",
        unit="s",
        above=0,
        at_most=MAX_S,
        optional=True,
    )
    mean_think_s: float | None = parameter(
        None,
        "scale think times to exactly this mean over the run",
        unit="s",
        above=0,
        at_most=MAX_S,
        optional=True,
        kind=float,
    )
    request_bytes: str = parameter(
        AS_TRACE,
        "size of every request: a constant, or 'trace' for the trace's own distribution",
        unit="bytes",
    )
    files_are_images: bool = parameter(
        False,
        "take files per page as the number of embedded objects, the main object not counted: one object "
        "too many per page, as ns-2's example does",
    )
    wander: float | None = parameter(
        0.01,
        "how far one draw can move the sum of all draws of a run, as a fraction of it; none: no limit",
        above=0,
        at_most=1,
        optional=True,
    )

    def __post_init__(self) -> None:
        check_all(self, "trace")
        self.delay_family()
        self.think_family(1.0)
        constant_distribution("request_bytes", self.request_bytes, at_least=1)

    def think_family(self, mean_s: float) -> Family | None:
        """Return the family of the think times with a mean in seconds; None for a table of a trace."""
        known = self.think.strip() in (AS_TRACE, MAH)
        return None if known else distribution_family(self.think, mean_s, f"trace: think is {self.think!r}")

    def delay_family(self) -> Family | None:
        """Return the distribution of the server delay in seconds; None for the trace's own."""
        name, _, rest = self.server_delay_ms.strip().partition(":")
        if name not in NAMES:
            fixed_ms = constant_distribution("server_delay_ms", self.server_delay_ms, at_least=0)
            return None if fixed_ms is None else Family("constant", fixed_ms / 1000)
        mean, colon, shape = rest.partition(":")
        given = f"trace: server_delay_ms is {self.server_delay_ms!r}"
        if not mean or mean == AS_TRACE:
            raise InputError(f"{given}; expected a mean in ms after the name, as in {name}:650.")
        mean_ms = constant_distribution("server_delay_ms", mean, at_least=0) or 0.0
        return distribution_family(f"{name}{colon}{shape}", mean_ms / 1000, given)
