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
    study_texts,
)
from psm_lab.studies.published_experiment_runs import INVERSE, LOG, PRESETS, values_of, with_ratios
from psm_lab.studies.study import Findings, Scale, Table
from psm_lab.studies.tasks import Rows, Task, comparison_task, optimum_task
from psm_sim.common.component_spec import Spec
from psm_sim.simulation import Scenario
from psm_sim.simulation.preset import Preset, load_preset

POLICIES = ("always-on", "psm", LOG, INVERSE, "bsd:p=1", "bsd:p=0.1")
BASE = PRESETS[0]
REPLICATIONS = 3
"""Preset that is varied, and number of seeds."""


@dataclass(frozen=True)
class PresetVariant:
    """Change to the headline preset.

    ``trace``, ``lpsm`` and ``settings`` are the changed parameters of the trace, of LPSM and of the topology.
    A value of ``lpsm`` applies to both losses, unless it is a mapping from :data:`LOG` and :data:`INVERSE`.
    """

    label: str
    trace: Mapping[str, Any] = field(default_factory=dict)
    lpsm: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def policy_specs(self, preset: Preset) -> tuple[Spec, ...]:
        """Return :data:`POLICIES` under the preset with the change."""
        specs = []
        for name in POLICIES:
            spec = Spec.parse(name, "policy")
            if spec.name == "lpsm":
                for key, value in self.lpsm.items():
                    spec = spec.with_(key, value[name] if isinstance(value, Mapping) else value)
            specs.append(preset.policy_spec(spec))
        return tuple(specs)


_THINK = "think times: "
# The changes are other readings of what the thesis leaves open, and the rules of other TCPs and browsers.
VARIANTS = (
    PresetVariant("preset without changes"),
    *(
        PresetVariant(_THINK + think, trace={"think": think})
        for think in ("mah", "exponential", "gamma:2", "constant")
    ),
    PresetVariant("no server delay", trace={"server_delay_ms": "none"}),
    PresetVariant("server delay as measured on servers (PackMime)", trace={"server_delay_ms": "trace"}),
    *(
        PresetVariant(f"server delay {delay} ms", trace={"server_delay_ms": delay})
        for delay in (300, 650, 1000)
    ),
    PresetVariant("server delay 800 ms, exponential", trace={"server_delay_ms": "exponential:800"}),
    PresetVariant("files per page counted correctly", trace={"files_are_images": "false"}),
    PresetVariant("after an uplink packet: the full time again", lpsm={"uplink": "restart"}),
    PresetVariant("after an uplink packet: the planned poll", lpsm={"uplink": "keep"}),
    PresetVariant(
        "files counted correctly, planned poll", trace={"files_are_images": "false"}, lpsm={"uplink": "keep"}
    ),
    PresetVariant("learns at uplink wake-ups", lpsm={"learn_on_uplink": "true"}),
    PresetVariant("buffered frames wait for a beacon", settings={"access_point.release_on_uplink": "false"}),
    PresetVariant("segments of 536 B", settings={"tcp.segment_bytes": 536}),
    PresetVariant("segments of 1000 B", settings={"tcp.segment_bytes": 1000}),
    PresetVariant("an ACK per segment", settings={"tcp.delayed_ack_ms": 0}),
    PresetVariant("initial window 1", settings={"tcp.initial_window": 1}),
    PresetVariant("initial window 4", settings={"tcp.initial_window": 4}),
    PresetVariant("one connection at a time", settings={"browser.connections": 1}),
    PresetVariant("persistent connections", settings={"browser.persistent": "true"}),
    PresetVariant("rates for 8.5 h instead of 45 min", lpsm={"horizon_s": 30600}),
    PresetVariant("rates for 5 min", lpsm={"horizon_s": 300}),
    PresetVariant("Static-expert (alpha 0)", lpsm={"alpha": 0}),
    PresetVariant("Fixed-share, alpha 5e-7", lpsm={"alpha": 5e-7}),
    PresetVariant("Fixed-share, alpha 1e-4", lpsm={"alpha": 1e-4}),
    PresetVariant("a tenth of gamma", lpsm={"gamma": {LOG: 1 / 1.2e4, INVERSE: 1 / 1.2e6}}),
)


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return a comparison and its offline optimum for each variant, on the seeds for choosing."""
    preset, all_tasks = load_preset(BASE), list[Task]()
    for variant in VARIANTS:
        trace, settings = preset.trace_spec(**variant.trace), {**preset.settings, **variant.settings}
        policies, labels = variant.policy_specs(preset), {"variant": variant.label}
        for number in scale.choosing(REPLICATIONS):
            scenario = Scenario(trace, pages=scale.pages, seed=number, settings=settings)
            all_tasks.append(comparison_task(policies, scenario, labels))
            all_tasks.append(optimum_task(scenario, labels))
    return all_tasks


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Return each number under each variant, and how many agree."""
    seeds, preset = scale.choosing(REPLICATIONS), load_preset(BASE)
    runs, optima = (dict(list(pd.DataFrame(rows.of(kind)).groupby("variant"))) for kind in ("run", "optimum"))
    lines, claims = [], {}
    for variant in VARIANTS:
        label = variant.label
        frame = with_ratios(runs[label].assign(policy=[*POLICIES] * len(seeds)))
        claims[label] = published_claims("lpsm-100", values_of(frame), preset)
        saved = frame.groupby("policy")["energy_saved"].mean()
        lines.append(
            {
                "choice": label,
                "agree": f"{len(count_agreeing(claims[label]))}/{len(claims[label])}",
                **{_name(claim.published): _judged_value(claim) for claim in claims[label]},
                **{f"{name} energy saved": f"{saved[name]:.3f}" for name in POLICIES[-2:]},
                "offline optimum, no delay, J": f"{optima[label]['energy_j'].mean():.3f}",
            }
        )
    return Findings(
        **study_texts("sensitivity"),
        setting=f"preset {BASE} and one change at a time; {len(seeds)} replications of {scale.pages} pages,"
        f" the seeds for choosing, {seeds[0]} to {seeds[-1]}; mean think time as the preset's",
        remarks=_remarks(claims),
        tables=[
            Table("One change at a time, with the published values in the headings", pd.DataFrame(lines))
        ],
        presets=[preset],
    )


_MARKS = {"agrees": "", "undecided": " ?", "differs": " !"}
_NAMES = {
    LOG: "1/log T",
    INVERSE: "1/T",
    "energy_j": "J",
    "beacons_j": "beacons J",
    "page_ratio_mean": "slowdown",
    "page_ratio_long": "longest tenth",
    "page_ratio_max": "worst",
}


def _judged_value(claim: Claim) -> str:
    """Return the judged value (the largest for a bound, else the mean) with the mark of its verdict."""
    value = claim.ours.mean if claim.published.at_most is None else claim.largest
    return f"{value:.3f}{_MARKS[claim.verdict]}"


def _name(number: PublishedNumber) -> str:
    return f"{_NAMES.get(number.policy, number.policy)} {_NAMES[number.quantity]} ({number})"


def _remarks(claims: Mapping[str, Sequence[Claim]]) -> list[str]:
    names = [_name(number) for number in published_numbers("lpsm-100")]
    agreeing = {
        label: {_name(claim.published) for claim in count_agreeing(variant)}
        for label, variant in claims.items()
    }
    missed = [name for name in names if not any(name in labels for labels in agreeing.values())]
    best = max(agreeing, key=lambda label: len(agreeing[label]))
    base = VARIANTS[0].label
    shares = {label.removeprefix(_THINK): claims[label] for label in claims if label.startswith(_THINK)}
    shares[f"preset {BASE}"] = claims[base]
    texts = [f"{label} {_beacon_share(variant):.2f}" for label, variant in shares.items()]
    return [
        (
            "An exclamation mark means that a value differs from the published value in the heading. A"
            " question mark means that it is undecided."
        ),
        (
            f"The preset agrees with {len(agreeing[base])} of {len(names)} numbers. The best variant agrees"
            f" with {len(agreeing[best])} ({best})."
        ),
        f"No variant agrees with these numbers: {', '.join(missed) or 'none'}.",
        (f"Beacon energy of LPSM with 1/T relative to static PSM (published: 0.71): {', '.join(texts)}."),
    ]


def _beacon_share(claims: Sequence[Claim]) -> float:
    beacons = {
        claim.published.policy: claim.ours.mean for claim in claims if claim.published.quantity == "beacons_j"
    }
    return beacons[INVERSE] / beacons["psm"]
