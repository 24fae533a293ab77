"""Golden outputs: tables, JSON and CSV of many kinds of runs; see ``outputs.py``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.golden.outputs import CASES, DIGESTS, digest, outputs, tables, write_inputs


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


@pytest.mark.parametrize("case", CASES)
def test_golden_outputs_are_unchanged(case: str, inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are equal, other outputs to six digits. ``python -m tests.golden.outputs`` renews them."""
    monkeypatch.chdir(inputs)
    texts = outputs(case)
    assert max(map(len, texts["table"].splitlines())) <= 100
    assert texts.pop("table") == tables()[case]
    assert {name: digest(text) for name, text in texts.items()} == json.loads(DIGESTS.read_text())[case]
