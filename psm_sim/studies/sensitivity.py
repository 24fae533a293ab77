"""Sensitivity of the published numbers to each choice that the sources leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from psm_sim.campaign.comparison import RunTask, against
from psm_sim.campaign.hindsight import OptimumTask
from psm_sim.campaign.tasks import Rows, Task
from psm_sim.simulation.preset import Preset, load_preset
from psm_sim.simulation.scenario import Scenario
from psm_sim.spec import Spec
from psm_sim.studies.published import Claim, Published, claims, published_numbers
from psm_sim.studies.study import Findings, Scale, Table

LOG, INVERSE = "lpsm:loss=inverse-log", "lpsm:loss=inverse"
PLAIN = ("psm", LOG, INVERSE, "bsd:p=1", "bsd:p=0.1")
QUANTITIES = ("energy_j", "beacons_j", "page_ratio_mean", "page_ratio_max")


@dataclass(frozen=True)
class Variant:
    """One change to the ``thesis`` preset.

    A value of ``lpsm`` is the same for both losses, or a mapping from :data:`LOG` and :data:`INVERSE`.
    """

    label: str
    trace: Mapping[str, Any] = field(default_factory=dict)
    lpsm: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def policies(self, preset: Preset) -> dict[str, Spec]:
        """Return the policies under the preset with the change, by their plain names."""
        return {name: preset.policy_spec(self._changed(name)) for name in PLAIN}

    def _changed(self, name: str) -> Spec:
        spec = Spec.parse(name, "policy")
        if spec.name == "lpsm":
            for key, value in self.lpsm.items():
                spec = spec.with_(key, value[name] if isinstance(value, Mapping) else value)
        return spec


VARIANTS = (
    Variant("as the preset"),
    Variant("no server delay", trace={"server_delay_ms": "none"}),
    Variant("server delay as measured on servers (PackMime)", trace={"server_delay_ms": None}),
    Variant("server delay 300 ms", trace={"server_delay_ms": 300}),
    Variant("server delay 1000 ms", trace={"server_delay_ms": 1000}),
    Variant("files per page counted right", trace={"files_are_images": "false"}),
    Variant("after an uplink: one beacon", lpsm={"uplink": "one"}),
    Variant("after an uplink: the planned poll", lpsm={"uplink": "keep"}),
    Variant(
        "files counted right, planned poll", trace={"files_are_images": "false"}, lpsm={"uplink": "keep"}
    ),
    Variant("learns at uplink wake-ups", lpsm={"learn_on_uplink": "true"}),
    Variant("held frames wait for a beacon", settings={"access_point.release_on_uplink": "false"}),
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
    Variant("gamma a tenth", lpsm={"gamma": {LOG: 1 / 1.2e4, INVERSE: 1 / 1.2e6}}),
)


class Sensitivity:
    """One variant at a time, everything else as the ``thesis`` preset."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one comparison per variant and seed, and hindsight's best schedule for each."""
        preset = load_preset("thesis")
        runs = [
            _task(preset, variant, scale.pages, each)
            for variant in VARIANTS
            for each in range(seed, seed + _replications(scale))
        ]
        return [*runs, *(OptimumTask(run.scenario, prices=0, labels=run.labels) for run in runs)]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return each number under each variant, and how many agree; arguments as for :class:`Study`."""
        count = _replications(scale)
        runs, best = pd.DataFrame(rows.of("run")), pd.DataFrame(rows.of("optimum"))
        lines, agreeing = [], {}
        for variant in VARIANTS:
            line, agreeing[variant.label] = _line(variant, runs[runs["variant"] == variant.label].copy())
            least_j = best.loc[best["variant"] == variant.label, "energy_j"].mean()
            lines.append({**line, "hindsight, no delay, J": f"{least_j:.3f}"})
        return Findings(
            "sensitivity",
            "Sensitivity: what each unstated choice does to the published numbers",
            f"{count} replications of {scale.pages} pages, from seed {seed}; think times as the preset's",
            remarks=_remarks(agreeing),
            tables=[Table("One choice at a time; published values in the headings", pd.DataFrame(lines))],
        )


def _replications(scale: Scale) -> int:
    return min(5, scale.replications)


def _task(preset: Preset, variant: Variant, pages: int, seed: int) -> RunTask:
    trace, settings = preset.trace_spec(**variant.trace), {**preset.settings, **variant.settings}
    scenario = Scenario(trace, pages=pages, seed=seed, settings=settings)
    return RunTask(tuple(variant.policies(preset).values()), scenario, {"variant": variant.label})


def _line(variant: Variant, frame: pd.DataFrame) -> tuple[dict[str, str], set[str]]:
    plain = {str(spec): name for name, spec in variant.policies(load_preset("thesis")).items()}
    frame["policy"] = frame["policy"].map(plain)
    frame = against(frame, "psm")
    groups = dict(iter(frame.groupby("policy", sort=False)))
    values = {
        (str(policy), quantity): group[quantity].tolist()
        for policy, group in groups.items()
        for quantity in QUANTITIES
    }
    found = claims("lpsm-100", values)
    agreeing = {_name(claim.published) for claim in found if claim.verdict == "agrees"}
    cells = {
        _name(claim.published): f"{_shown(claim):.3f}" + ("" if claim.verdict == "agrees" else " !")
        for claim in found
    }
    saved = {
        f"{name} energy saved": f"{1 - groups[name]['energy_ratio'].mean():.3f}"
        for name in ("bsd:p=1", "bsd:p=0.1")
    }
    return {"choice": variant.label, "agree": f"{len(agreeing)}/{len(found)}", **cells, **saved}, agreeing


def _shown(claim: Claim) -> float:
    """Return the largest value for a bound, and the mean for everything else, as they are judged."""
    return claim.ours.mean if claim.published.at_most is None else claim.largest


def _name(number: Published) -> str:
    quantity = {
        "energy_j": "J",
        "beacons_j": "beacons J",
        "page_ratio_mean": "slowdown",
        "page_ratio_max": "worst",
    }
    policy = {"psm": "psm", LOG: "1/log T", INVERSE: "1/T"}[number.policy]
    return f"{policy} {quantity[number.quantity]} ({number})"


def _remarks(agreeing: Mapping[str, set[str]]) -> list[str]:
    names = [_name(number) for number in published_numbers("lpsm-100")]
    never = [name for name in names if not any(name in found for found in agreeing.values())]
    most = max(agreeing, key=lambda label: len(agreeing[label]))
    preset = len(agreeing[VARIANTS[0].label])
    return [
        "An exclamation mark: differs from the published value, which stands in brackets in the heading.",
        (
            f"The preset agrees with {preset} of {len(names)} numbers; no variant with more than"
            f" {len(agreeing[most])} ({most})."
        ),
        f"Reached by no variant: {', '.join(never) or 'none'}.",
        (
            "LPSM with 1/T: silence moves the weights by 1/100 - 1/1200 = 0.009 nats per poll at most, so"
            " after held frames the sleep time climbs back only as far as the switching rate holds the other"
            " experts up. Learn-alpha learns a rate at which it recovers in a minute or two. The published"
            " 0.59 J of beacons need a learner that hardly switches at all, with a rate under 1e-6."
        ),
    ]


STUDY = Sensitivity()
