"""The road of a policy, from its text on the command line to the radio's first question."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from psm_sim.cli import main
from psm_sim.common.component_spec import Spec
from psm_sim.losses import formula_loss
from psm_sim.policies import make_policy
from psm_sim.policies.lpsm import Lpsm
from psm_sim.simulation import simulate

TEXT = "lpsm:horizon_s=2600"
RUN = ("--policy", TEXT, "--pages", "2", "--format", "json")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count readings of specs (by text) and of formulas, and what is done to an LPSM."""
    counted: Counter[str] = Counter()

    def count(owner: object, name: str, label: str) -> None:
        real = getattr(owner, name)

        def counting(*given: Any, **named: Any) -> Any:
            counted[label] += 1
            return real(*given, **named)

        monkeypatch.setattr(owner, name, counting)

    read = Spec.parse.__func__

    def parse(cls: type[Spec], text: str, kind: str) -> Spec:
        counted[f"read {text}"] += 1
        return read(cls, text, kind)

    monkeypatch.setattr(Spec, "parse", classmethod(parse))
    count(formula_loss, "parse_expression", "formula")
    count(Lpsm, "__post_init__", "made")
    count(Lpsm, "start", "started")
    count(Lpsm, "__reduce_ex__", "copied")
    return counted


def test_a_policy_is_read_made_and_started_once(calls: Counter[str]) -> None:
    """And never copied; its loss is read once as well."""
    assert main([*RUN, "--preset", "thesis", "--loss", "inverse"]) == 0
    texts = (TEXT, "ucb", "inverse", "learn-alpha")
    assert calls == {**{f"read {text}": 1 for text in texts}, "made": 1, "started": 1}


def test_a_formula_is_read_once(calls: Counter[str]) -> None:
    """With ``--loss``, and inside the text of the policy."""
    for words in (("--loss", "max(1/Ti, 2)"), ("--policy", "lpsm:loss=max(1/Ti, 2)")):
        calls.clear()
        assert main(["--pages", "2", *words]) == 0
        assert {name: calls[name] for name in ("formula", "made", "started", "copied")} == {
            "formula": 1, "made": 1, "started": 1, "copied": 0,
        }  # fmt: skip


def test_a_policy_made_in_python_is_copied_once_for_each_run(calls: Counter[str]) -> None:
    """It is not started itself, and stays as it was."""
    policy = make_policy("lpsm")
    before = vars(policy).copy()
    calls.clear()
    for run in (1, 2):
        simulate(policy, pages=1)
        assert (calls["made"], calls["started"], calls["copied"]) == (0, run, run)
    assert vars(policy) == before
    assert not hasattr(policy, "learner")
