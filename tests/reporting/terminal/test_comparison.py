"""The table on the terminal."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest

from psm_sim.reporting.comparison_table import caption, tables_of
from psm_sim.reporting.terminal import comparison as table
from psm_sim.simulation import BASELINES, Comparison, References, Scenario, run_comparison


class Terminal(io.StringIO):
    """Text stream that is a terminal."""

    def isatty(self) -> bool:
        """Return True."""
        return True


def written(comparison: Comparison, stream: io.StringIO | None = None) -> str:
    """Return the table as text."""
    stream = stream or io.StringIO()
    table.write(comparison, stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("file", "settings", "words"),
    [
        ("", {}, "topology phone.toml: three-node."),
        ("[beacon]\ninterval_ms = 50\n", {}, "topology phone.toml: three-node with beacon.interval_ms=50."),
        (
            'extends = "modern"\n[power]\nawake_w = 0.5\n[browser]\npersistent = false\n',
            {"tcp.max_window": "30"},
            "phone.toml: modern with power.awake_w=0.5, browser.persistent=false, tcp.max_window=30.",
        ),
        (
            "[power]\nawake_w = 1\nasleep_w = 0\nbeacon_j = 0\n[beacon]\ninterval_ms = 50\n",
            {},
            "three-node with beacon.interval_ms=50, power.awake_w=1, power.asleep_w=0, and 1 more.",
        ),
    ],
)
def test_the_caption_has_the_differences_from_the_bundled_topology(
    file: str, settings: dict[str, str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caption has at most three keys, followed by the settings."""
    monkeypatch.chdir(tmp_path)
    Path("phone.toml").write_text(file)
    comparison = run_comparison(["psm"], Scenario(topology="phone.toml", pages=1, settings=settings))
    assert words in "\n".join(caption(comparison))


def test_output_to_a_pipe_is_plain_text(comparison: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text has at most 100 columns, no colours, and no trailing blanks, in any environment."""
    text = written(comparison)
    assert max(map(len, text.splitlines())) <= 100
    assert "\x1b" not in text
    assert all(line == line.rstrip() for line in text.splitlines())
    for name, value in (("COLUMNS", "40"), ("FORCE_COLOR", "1"), ("TERM", "xterm-256color")):
        monkeypatch.setenv(name, value)
    assert written(comparison) == text


@pytest.fixture(scope="module")
def replicated() -> Comparison:
    """Return two policies and the baselines over three seeds."""
    references = References(BASELINES, BASELINES[1:])
    policies = ["lpsm:loss=gamma * I * Ti**2 / (2*T) + 1/log(Ti)", "bsd:p=0.5"]
    return run_comparison(policies, Scenario(pages=3, seed=4), 3, workers=1, references=references)


@pytest.mark.parametrize("width", [160, *range(50, 121, 5)])
@pytest.mark.parametrize("several", [False, True])
def test_names_and_digits_are_never_truncated(
    width: int, several: bool, replicated: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Columns are removed by rank; energy and slowdown stay, and no number or heading is truncated."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")  # rich takes a dumb terminal to have 80 columns
    first = [block for block in replicated.blocks if block.keys["seed"] == replicated.scenario.seed]
    shown = replicated if several else replace(replicated, replicate="", blocks=first)
    text = re.sub(r"\x1b\[[0-9;]*m", "", written(shown, Terminal()))
    head = [line.rstrip() for line in text.split("\n\n")[0].splitlines()]
    assert max(map(len, head)) <= width
    assert "…" not in text
    for part in ("lpsm:", "loss=gamma * I *", "/log(Ti)", "bsd:", "p=0.5"):
        assert any(part in line for line in head), part
    columns = {column.heading: column.cells for column in tables_of(shown)[0].columns}
    for heading in ("energy (J)", "slowdown mean"):
        assert set(columns[heading]) <= set(" ".join(head).split())
    assert {"energy", "slowdown"} <= set(head[0].split())
    full = re.sub(r"\x1b\[[0-9;]*m", "", written(shown, wide_terminal(monkeypatch)))
    wide = set(full.split("\n\n")[0].split())
    cells = " ".join(head[3:]).split()
    assert {cell for cell in cells if re.fullmatch(r"-?\d+(\.\d*)?x?", cell)} <= wide
    assert set(head[0].split() + head[1].split()) <= wide
    missing = [name for name in columns if name.split()[0] not in head[0].split()]
    assert all(name in " ".join(text.split("Left out")[1].split()) for name in missing)
    assert "Left out" not in full


def test_baselines_are_at_the_top_and_marked(replicated: Comparison) -> None:
    """A requested policy that is also a baseline appears once."""
    table = written(replicated).split("\n\n")[0].splitlines()[3:]
    names = " ".join(re.split(r" +\d+\.\d", line)[0].strip() for line in table)
    loss = "gamma * I * Ti**2 / (2*T) + 1/log(Ti)"
    assert names == f"always-on * psm * lpsm:loss={loss} bsd:p=0.5"
    references = References(BASELINES, BASELINES[1:])
    comparison = run_comparison(["psm", "bsd"], Scenario(pages=2), references=references)
    rows = [line.split()[0] for line in written(comparison).splitlines()[3:6]]
    assert rows == ["always-on", "psm", "bsd"]
    assert [run.policy for run in comparison.runs] == ["psm", "bsd"]


def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal with space for every column."""
    monkeypatch.setenv("COLUMNS", "400")
    return Terminal()
