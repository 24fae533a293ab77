"""Parameters of a synthetic trace."""

from __future__ import annotations

from dataclasses import dataclass

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_S
from psm_sim.common.parameters import check_all, parameter
from psm_sim.workload.distribution_families import NAMES, Family, distribution_family
from psm_sim.workload.distribution_override import AS_TRACE, constant_distribution

MAH = "mah"


@dataclass(frozen=True)
class PageSampling:
    """Parameters for sampling pages from a profile."""

    server_delay_ms: str = parameter(
        AS_TRACE,
        "server delay of each object: a constant, 'none', 'trace' for the trace's own distribution, or a "
        "family with mean and shape, e.g. exponential:650 or gamma:650:2",
        unit="ms",
    )
    think: str = parameter(
        AS_TRACE,
        "distribution of think times: 'trace' for the trace's own, 'mah' for Berkeley's, or constant, "
        "uniform, exponential, gamma:K, lognormal:SIGMA, two-point:ZEROS with the trace's mean",
    )
    max_think_s: float | None = parameter(
        1000.0,
        "maximum think time; larger ones are rejected and sampled again",
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
        "count files per page without the main object, which adds one object per page, as in ns-2's example",
    )
    wander: float | None = parameter(
        0.01,
        "largest influence of one draw on the sum of a run's draws, as a fraction; none: no limit",
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
        """Return the family of the think times with mean *mean_s*, or None for the table of a trace."""
        is_table = self.think.strip() in (AS_TRACE, MAH)
        return (
            None if is_table else distribution_family(self.think, mean_s, f"trace: think is {self.think!r}")
        )

    def delay_family(self) -> Family | None:
        """Return the distribution of the server delay in seconds, or None for the trace's own."""
        name, _, rest = self.server_delay_ms.strip().partition(":")
        if name not in NAMES:
            constant_ms = constant_distribution("server_delay_ms", self.server_delay_ms, at_least=0)
            return None if constant_ms is None else Family("constant", constant_ms / 1000)
        mean, colon, shape = rest.partition(":")
        owner = f"trace: server_delay_ms is {self.server_delay_ms!r}"
        if not mean or mean == AS_TRACE:
            raise InputError(f"{owner}; expected a mean in ms after the name, e.g. {name}:650.")
        mean_ms = constant_distribution("server_delay_ms", mean, at_least=0) or 0.0
        return distribution_family(f"{name}{colon}{shape}", mean_ms / 1000, owner)
