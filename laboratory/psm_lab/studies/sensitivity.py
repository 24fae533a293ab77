"""Study of how each choice that the sources leave open affects the published numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from psm_lab.studies.published_claims import (
    Claim,
    PublishedNumber,
    count_agreeing,
    published_claims,
    published_numbers,
)
from psm_lab.studies.published_experiment_runs import INVERSE, LOG, PRESETS, values_of, with_long_pages
from psm_lab.studies.study import Findings, Scale, Study, Table
from psm_lab.studies.tasks import OptimumTask, Rows, RunTask, Task, add_ratios
from psm_sim.common.component_spec import Spec
from psm_sim.simulation.preset import Preset, load_preset
from psm_sim.simulation.scenario import Scenario

PLAIN = ("psm", LOG, INVERSE, "bsd:p=1", "bsd:p=0.1")
QUANTITIES = ("energy_j", "beacons_j", "page_ratio_mean", "page_ratio_long", "page_ratio_max")
BASE = PRESETS[0]
REPLICATIONS = 3


@dataclass(frozen=True)
class Variant:
    """Change to the headline preset.

    ``trace``, ``lpsm`` and ``settings`` are the changed parameters of the trace, of LPSM and of the topology.
    A value of ``lpsm`` applies to both losses, unless it is a mapping from :data:`LOG` and :data:`INVERSE`.
    """

    label: str
    trace: Mapping[str, Any] = field(default_factory=dict)
    lpsm: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def policies(self, preset: Preset) -> dict[str, Spec]:
        """Return the policies under the preset with the change, by their plain names."""
        return {name: preset.policy_spec(self._apply(name)) for name in PLAIN}

    def _apply(self, name: str) -> Spec:
        spec = Spec.parse(name, "policy")
        if spec.name == "lpsm":
            for key, value in self.lpsm.items():
                spec = spec.with_(key, value[name] if isinstance(value, Mapping) else value)
        return spec


TAILS = ("mah", "exponential", "gamma:2", "constant")
VARIANTS = (
    Variant("preset without changes"),
    *(Variant(f"think times: {think}", trace={"think": think}) for think in TAILS),
    Variant("no server delay", trace={"server_delay_ms": "none"}),
    Variant("server delay as measured on servers (PackMime)", trace={"server_delay_ms": "trace"}),
    *(Variant(f"server delay {delay} ms", trace={"server_delay_ms": delay}) for delay in (300, 650, 1000)),
    Variant("server delay 800 ms, exponential", trace={"server_delay_ms": "exponential:800"}),
    Variant("files per page counted correctly", trace={"files_are_images": "false"}),
    Variant("after an uplink packet: the full time again", lpsm={"uplink": "restart"}),
    Variant("after an uplink packet: the planned poll", lpsm={"uplink": "keep"}),
    Variant(
        "files counted correctly, planned poll", trace={"files_are_images": "false"}, lpsm={"uplink": "keep"}
    ),
    Variant("learns at uplink wake-ups", lpsm={"learn_on_uplink": "true"}),
    Variant("buffered frames wait for a beacon", settings={"access_point.release_on_uplink": "false"}),
    Variant("segments of 536 B", settings={"tcp.segment_bytes": 536}),
    Variant("segments of 1000 B", settings={"tcp.segment_bytes": 1000}),
    Variant("an ACK per segment", settings={"tcp.delayed_ack_ms": 0}),
    Variant("initial window 1", settings={"tcp.initial_window": 1}),
    Variant("initial window 4", settings={"tcp.initial_window": 4}),
    Variant("one connection at a time", settings={"browser.connections": 1}),
    Variant("persistent connections", settings={"browser.persistent": "true"}),
    Variant("rates for 8.5 h instead of 45 min", lpsm={"horizon_s": 30600}),
    Variant("rates for 5 min", lpsm={"horizon_s": 300}),
    Variant("Static-expert (alpha 0)", lpsm={"alpha": 0}),
    Variant("Fixed-share, alpha 5e-7", lpsm={"alpha": 5e-7}),
    Variant("Fixed-share, alpha 1e-4", lpsm={"alpha": 1e-4}),
    Variant("a tenth of gamma", lpsm={"gamma": {LOG: 1 / 1.2e4, INVERSE: 1 / 1.2e6}}),
)


class SensitivityStudy(Study):
    """Headline preset with one change at a time, on the seeds for choosing."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one comparison per variant and seed, and the offline optimum for each.

        *scale* and *seed* as for :class:`Study`; the seeds for choosing do not depend on *seed*.
        """
        preset = load_preset(BASE)
        runs = [
            _task(preset, variant, scale.pages, number)
            for variant in VARIANTS
            for number in scale.choosing(REPLICATIONS)
        ]
        return [*runs, *(OptimumTask(run.scenario, prices=0, labels=run.labels) for run in runs)]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return each number under each variant, and how many agree; arguments as for :class:`Study`."""
        seeds, preset = scale.choosing(REPLICATIONS), load_preset(BASE)
        runs, optima = pd.DataFrame(rows.of("run")), pd.DataFrame(rows.of("optimum"))
        lines, claims = [], {}
        for variant in VARIANTS:
            line, claims[variant.label] = _line(variant, runs[runs["variant"] == variant.label], preset)
            optimum_j = optima.loc[optima["variant"] == variant.label, "energy_j"].mean()
            lines.append({**line, "offline optimum, no delay, J": f"{optimum_j:.3f}"})
        return Findings(
            "sensitivity",
            "Sensitivity of the published numbers to each unstated choice",
            f"preset {BASE} and one change at a time; {len(seeds)} replications of {scale.pages} pages, the"
            f" seeds for choosing, {seeds[0]} to {seeds[-1]}; mean think time as the preset's",
            remarks=_remarks(claims),
            tables=[
                Table("One change at a time, with the published values in the headings", pd.DataFrame(lines))
            ],
            presets=[preset],
        )


def _task(preset: Preset, variant: Variant, pages: int, seed: int) -> RunTask:
    trace, settings = preset.trace_spec(**variant.trace), {**preset.settings, **variant.settings}
    scenario = Scenario(trace, pages=pages, seed=seed, settings=settings)
    policies: tuple[str | Spec, ...] = ("always-on", *variant.policies(preset).values())
    return RunTask(policies, scenario, {"variant": variant.label})


def _line(variant: Variant, runs: pd.DataFrame, preset: Preset) -> tuple[dict[str, str], list[Claim]]:
    names = {"always-on": "always-on", **{str(spec): name for name, spec in variant.policies(preset).items()}}
    frame = with_long_pages(add_ratios(runs.assign(policy=runs["policy"].map(names)), "psm"))
    claims = published_claims("lpsm-100", values_of(frame, QUANTITIES), preset)
    cells = {_name(claim.published): f"{_judged_value(claim):.3f}{_MARKS[claim.verdict]}" for claim in claims}
    ratios = frame.groupby("policy")["energy_ratio"].mean()
    bsd = {f"{name} energy saved": f"{1 - ratios[name]:.3f}" for name in ("bsd:p=1", "bsd:p=0.1")}
    return {
        "choice": variant.label,
        "agree": f"{len(count_agreeing(claims))}/{len(claims)}",
        **cells,
        **bsd,
    }, claims


_MARKS = {"agrees": "", "undecided": " ?", "differs": " !"}


def _judged_value(claim: Claim) -> float:
    """Return the value that is judged: the largest for a bound, and otherwise the mean."""
    return claim.ours.mean if claim.published.at_most is None else claim.largest


def _name(number: PublishedNumber) -> str:
    quantity = {
        "energy_j": "J",
        "beacons_j": "beacons J",
        "page_ratio_mean": "slowdown",
        "page_ratio_long": "longest tenth",
        "page_ratio_max": "worst",
    }
    policy = {"psm": "psm", LOG: "1/log T", INVERSE: "1/T"}[number.policy]
    return f"{policy} {quantity[number.quantity]} ({number})"


def _remarks(claims: Mapping[str, Sequence[Claim]]) -> list[str]:
    names = [_name(number) for number in published_numbers("lpsm-100")]
    agreeing = {
        label: {_name(claim.published) for claim in count_agreeing(variant)}
        for label, variant in claims.items()
    }
    missed = [name for name in names if not any(name in labels for labels in agreeing.values())]
    best = max(agreeing, key=lambda label: len(agreeing[label]))
    preset = len(agreeing[VARIANTS[0].label])
    return [
        (
            "An exclamation mark means that a value differs from the published value in the heading. A"
            " question mark means that it is undecided."
        ),
        (
            f"The preset agrees with {preset} of {len(names)} numbers. The best variant agrees with"
            f" {len(agreeing[best])} ({best})."
        ),
        f"No variant agrees with these numbers: {', '.join(missed) or 'none'}.",
        _tail_remark(claims),
    ]


def _tail_remark(claims: Mapping[str, Sequence[Claim]]) -> str:
    """Return the remark on how the tail of the think times affects the beacons of LPSM with 1/T."""
    shares = {
        label: _beacon_share(variant) for label, variant in claims.items() if label.startswith("think times")
    }
    shares[f"preset {BASE}"] = _beacon_share(claims[VARIANTS[0].label])
    text = ", ".join(f"{label.removeprefix('think times: ')} {share:.2f}" for label, share in shares.items())
    return f"Beacon energy of LPSM with 1/T relative to static PSM (published: 0.71): {text}."


def _beacon_share(claims: Sequence[Claim]) -> float:
    beacons = {
        claim.published.policy: claim.ours.mean for claim in claims if claim.published.quantity == "beacons_j"
    }
    return beacons[INVERSE] / beacons["psm"]


STUDY = SensitivityStudy()
