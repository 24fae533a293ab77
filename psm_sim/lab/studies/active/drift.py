"""Learning under drift: LASEC, LASEC-SS, their baselines, and the coin that beats the margin under jumps."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psm_sim.campaign.task_runner import Rows, Task
from psm_sim.lab.active.data.mnist import mnist_file
from psm_sim.lab.studies.active.drift_trials import (
    MARGINS,
    SELECTIVE,
    STREAMS,
    SUPERVISED,
    SYNTHETIC,
    selective_of,
    supervised_of,
)
from psm_sim.lab.studies.active.trials import Direction, Trial, frame_of, is_full, judge_claim
from psm_sim.lab.studies.published import Claim
from psm_sim.lab.studies.study import Findings, Scale, Table

NAME = "drift"
RATES = (0.1, 0.4)
KINDS = tuple(kind for kind in STREAMS if kind not in {SYNTHETIC, "digits"})
_COIN = (
    "The coin beats the margin's rule of every learner under fast jumps: the rule asks least where it is"
    " surest, and a target that has jumped makes it sure and wrong. The papers have no such control."
)
_SETTING = (
    "10 000 Gaussian rounds, d = 50, target redrawn every 500 unless said; MNIST-5k with shifts; {} streams"
    " from seed {}, parameters matched on one extra draw"
)
_MISSING = (
    "The images are not installed (pip install 'psm_sim[studies]'): the digits with shifts were left out."
)


class DriftStudy:
    """Accuracy of every learner on streams whose target moves."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one trial per stream, learner and rate; it matches the rate and runs all replications."""
        common = {"replications": scale.replications + 2 * is_full(scale), "seed": seed}
        return [
            *(_supervised(what, learner, common) for what in _whole() for learner in SUPERVISED),
            *(
                _selective(what, learner, rate, common)
                for what in _whole()
                for learner in SELECTIVE
                for rate in RATES
            ),
            *(
                _selective(kind, learner, 0.1, common)
                for kind in KINDS
                for learner in ("LASEC-SS", "LASEC coin")
            ),
        ]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return the accuracies, the margin against the coin, and the claims of [001] section 5.

        *rows*, *scale* and *seed* as in :class:`~psm_sim.lab.studies.study.Study`.
        """
        frame = pd.concat([frame_of(rows, "supervised"), frame_of(rows, "selective")])
        shown = frame.groupby(["stream", "rate", "learner"], sort=False)
        table = shown[["bought", "accuracy", "first 500"]].mean().reset_index()
        whole = set(table["stream"])
        curve = table[(table["stream"] == SYNTHETIC) & (table["rate"] < 1)]
        return Findings(
            NAME,
            "Learning under drift",
            _SETTING.format(frame["replication"].nunique(), seed),
            remarks=[] if "digits" in whole else [_MISSING],
            commentary=[_COIN],
            tables=[Table("Accuracy, and of the first 500 rounds", table)],
            claims=_claims(frame),
            figures={"drift": curve[["learner", "rate", "accuracy"]]},
        )


def _whole() -> list[str]:
    """Return the streams on which every learner runs."""
    return [SYNTHETIC, *(["digits"] if mnist_file() is not None else [])]


def _supervised(what: str, learner: str, common: dict[str, int]) -> Trial:
    return Trial("supervised", supervised_of, {"what": what, "learner": learner, **common}, weight=30)


def _selective(what: str, learner: str, rate: float, common: dict[str, int]) -> Trial:
    return Trial(
        "selective", selective_of, {"what": what, "learner": learner, "rate": rate, **common}, weight=60
    )


def _claims(frame: pd.DataFrame) -> list[Claim]:
    values, first = _wide(frame, "accuracy"), _wide(frame, "first 500")
    found = []
    for what in dict.fromkeys(frame.loc[frame["rate"] == 1.0, "stream"]):
        found += _best("LASEC 10/1000", values[what, 1.0], f"{what}: accuracy, every label")
        for rate in RATES:
            found += _best("LASEC-SS", values[what, rate], f"{what}: accuracy at rate {rate:g}")
    found += _best("SOP ridge 10", first[SYNTHETIC, 1.0], f"{SYNTHETIC}: accuracy of the first 500")
    found += _best("BBQ", first[SYNTHETIC, 0.1], f"{SYNTHETIC}: first 500 at rate 0.1")
    for kind in (*KINDS, SYNTHETIC):
        at = values[kind, 0.1]
        found.append(_claim("LASEC-SS", "LASEC coin", f"{kind}: accuracy at rate 0.1", at, "ours: control"))
    return found


Wide = dict[tuple[str, float], pd.DataFrame]


def _wide(frame: pd.DataFrame, column: str) -> Wide:
    """Return one table per stream and rate: a row per replication, a column per learner."""
    return {
        (what, rate): part.pivot_table(index="replication", columns="learner", values=column)
        for what in frame["stream"].unique()
        for rate in (*RATES, 1.0)
        if len(part := frame[(frame["stream"] == what) & (frame["rate"] == rate)])
    }


def _best(winner: str, values: pd.DataFrame, what: str) -> list[Claim]:
    """Return the claim that one learner is above each of the others that look at the instance."""
    others = [str(name) for name in values.columns if name != winner and name not in MARGINS.values()]
    rival = str(values[others].mean().sort_values().index[-1])
    controls = [MARGINS[winner]] if winner in MARGINS else []
    return [_claim(winner, other, what, values, "[001], figure 2") for other in (rival, *controls)]


def _claim(winner: str, other: str, what: str, values: pd.DataFrame, source: str) -> Claim:
    return judge_claim(Direction(NAME, f"{winner} - {other}", what, source), values[winner] - values[other])


STUDY = DriftStudy()
