"""Study of learning under drift with LASEC, LASEC-SS, baselines and fixed query probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psm_sim.campaign.task_runner import Rows, Task
from psm_sim.lab.active.data.handwritten_digits import mnist_file
from psm_sim.lab.studies.active.drift_trials import (
    MARGINS,
    SELECTIVE,
    STREAMS,
    SUPERVISED,
    SYNTHETIC,
    selective_of,
    supervised_of,
)
from psm_sim.lab.studies.active.learner_trials import Direction, Trial, frame_of, is_full, judge_claim
from psm_sim.lab.studies.published_claims import Claim
from psm_sim.lab.studies.study import Findings, Scale, Table

NAME = "drift"
RATES = (0.1, 0.4)
KINDS = tuple(kind for kind in STREAMS if kind not in {SYNTHETIC, "digits"})
_CONTROL = (
    'The learners named "coin" are controls with a fixed query probability. Under fast jumps they are better'
    " than the margin-based rule of every learner. The margin-based rule queries least where it is most"
    " certain. After a jump it is certain and wrong. The papers have no such control."
)
_SETTING = (
    "10 000 Gaussian rounds, d = 50, target redrawn every 500 rounds unless stated otherwise; MNIST-5k with"
    " shifts; {} streams from seed {}, parameters matched on one extra stream"
)
_MISSING = (
    "The digits with shifts are omitted, because the images are not installed (pip install"
    " 'psm_sim[studies]')."
)


class DriftStudy:
    """Study of the accuracy of every learner on streams with a moving target."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one trial per stream, learner and rate, which matches the rate and runs all replications.

        *scale* and *seed* as for :meth:`digest`.
        """
        common = {"replications": scale.replications + 2 * is_full(scale), "seed": seed}
        return [
            *(_supervised(stream, learner, common) for stream in _main_streams() for learner in SUPERVISED),
            *(
                _selective(stream, learner, rate, common)
                for stream in _main_streams()
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
        """Return the accuracies, and the claims of [001] section 5 and on the control.

        *rows*, *scale* and *seed* as for :class:`~psm_sim.lab.studies.study.Study`.
        """
        frame = pd.concat([frame_of(rows, "supervised"), frame_of(rows, "selective")])
        groups = frame.groupby(["stream", "rate", "learner"], sort=False)
        table = groups[["bought", "accuracy", "first 500"]].mean().reset_index()
        streams = set(table["stream"])
        curve = table[(table["stream"] == SYNTHETIC) & (table["rate"] < 1)]
        return Findings(
            NAME,
            "Learning under drift",
            _SETTING.format(frame["replication"].nunique(), seed),
            remarks=[] if "digits" in streams else [_MISSING],
            commentary=[_CONTROL],
            tables=[Table("Accuracy, and of the first 500 rounds", table)],
            claims=_claims(frame),
            figures={"drift": curve[["learner", "rate", "accuracy"]]},
        )


def _main_streams() -> list[str]:
    """Return the streams on which every learner runs."""
    return [SYNTHETIC, *(["digits"] if mnist_file() is not None else [])]


def _supervised(stream: str, learner: str, common: dict[str, int]) -> Trial:
    return Trial("supervised", supervised_of, {"what": stream, "learner": learner, **common}, weight=30)


def _selective(stream: str, learner: str, rate: float, common: dict[str, int]) -> Trial:
    return Trial(
        "selective", selective_of, {"what": stream, "learner": learner, "rate": rate, **common}, weight=60
    )


def _claims(frame: pd.DataFrame) -> list[Claim]:
    values, first = _wide(frame, "accuracy"), _wide(frame, "first 500")
    claims = []
    for stream in dict.fromkeys(frame.loc[frame["rate"] == 1.0, "stream"]):
        claims += _best_claims("LASEC 10/1000", values[stream, 1.0], f"{stream}: accuracy, every label")
        for rate in RATES:
            claims += _best_claims("LASEC-SS", values[stream, rate], f"{stream}: accuracy at rate {rate:g}")
    claims += _best_claims("SOP ridge 10", first[SYNTHETIC, 1.0], f"{SYNTHETIC}: accuracy of the first 500")
    claims += _best_claims("BBQ", first[SYNTHETIC, 0.1], f"{SYNTHETIC}: first 500 at rate 0.1")
    for kind in (*KINDS, SYNTHETIC):
        at = values[kind, 0.1]
        claims.append(_claim("LASEC-SS", "LASEC coin", f"{kind}: accuracy at rate 0.1", at, "ours: control"))
    return claims


Wide = dict[tuple[str, float], pd.DataFrame]


def _wide(frame: pd.DataFrame, column: str) -> Wide:
    """Return one table per stream and rate, with a row per replication and a column per learner."""
    return {
        (stream, rate): part.pivot_table(index="replication", columns="learner", values=column)
        for stream in frame["stream"].unique()
        for rate in (*RATES, 1.0)
        if len(part := frame[(frame["stream"] == stream) & (frame["rate"] == rate)])
    }


def _best_claims(winner: str, values: pd.DataFrame, quantity: str) -> list[Claim]:
    """Return the claims that *winner* is above its best rival and above its control."""
    others = [str(name) for name in values.columns if name != winner and name not in MARGINS.values()]
    rival = str(values[others].mean().sort_values().index[-1])
    controls = [MARGINS[winner]] if winner in MARGINS else []
    return [_claim(winner, other, quantity, values, "[001], figure 2") for other in (rival, *controls)]


def _claim(winner: str, other: str, quantity: str, values: pd.DataFrame, source: str) -> Claim:
    return judge_claim(
        Direction(NAME, f"{winner} - {other}", quantity, source), values[winner] - values[other]
    )


STUDY = DriftStudy()
