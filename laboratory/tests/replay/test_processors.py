"""Results that do not depend on the kernels of the linear algebra library for a processor."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

CODE = """
import json
from psm_sim import simulate
from psm_lab.replay.trace_replay import replay_trace
(client,) = replay_trace("ucb", pages=5)
run = simulate("lpsm", pages=5)
columns = run.blocks[0].page_columns()
record = [columns[name].tolist() for name in ("start_s", "page_time_s", "energy_j")]
print(json.dumps({"replay": client.to_dict(), "run": record}))
"""
SETTINGS: tuple[dict[str, str], ...] = (
    {},
    {"OPENBLAS_CORETYPE": "Prescott"},
    {"OPENBLAS_CORETYPE": "Nehalem"},
    {"OPENBLAS_CORETYPE": "Haswell"},
    {"OPENBLAS_CORETYPE": "SkylakeX"},
)


def outcome(settings: dict[str, str]) -> dict | None:
    """Return the results of a replay and a run with *settings*, or None if the processor lacks them."""
    words = [sys.executable, "-W", "ignore", "-c", CODE]
    done = subprocess.run(words, env={**os.environ, **settings}, capture_output=True, text=True, check=False)
    if done.returncode == -signal.SIGILL:
        return None
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_runs_agree_bit_for_bit_and_replays_agree_to_twelve_digits_on_all_processors() -> None:
    """Kernels sum in different orders; a run acts on whole beacons, which do not depend on the last bit."""
    first, *others = filter(None, map(outcome, SETTINGS))
    assert len(others) >= 2
    for other in others:
        assert other["run"] == first["run"]
        for key in ("mixture", "suffered"):
            assert other["replay"]["loss"][key] == pytest.approx(first["replay"]["loss"][key], rel=1e-12)
        assert other["replay"]["polls"] == first["replay"]["polls"]
        assert other["replay"]["bytes"] == first["replay"]["bytes"]
