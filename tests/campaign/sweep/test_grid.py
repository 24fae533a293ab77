"""Grids of sweeps: tasks of axes, and errors before the first run."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.campaign.sweep.grid import Grid, expand_values, read_grid
from psm_sim.common.errors import InputError
from psm_sim.simulation.preset import load_preset
from tests.campaign.sweep.common import grid


def policies(grid_: Grid) -> list[str]:
    """Return the policies of the tasks, as texts."""
    return [str(task.policy) for task in grid_.tasks()]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0.1,0.2, 0.5 ,1", "0.1 0.2 0.5 1"),
        ("1..4", "1 2 3 4"),
        ("10..35:10", "10 20 30"),
        ("0.1..0.3:0.1", "0.1 0.2 0.3"),
        ("-1..1,5", "-1 0 1 5"),
        ("1e2..3e2:1e2", "100 200 300"),
        ("../my.py:Mine", "../my.py:Mine"),
        ("(lpsm:gamma=1,loss=inverse),psm", "lpsm:gamma=1,loss=inverse psm"),
    ],
)
def test_values_are_lists_or_ranges(text: str, values: str) -> None:
    """Values are exact decimals. A text that is not a range is a single value."""
    assert expand_values(text, "seed") == tuple(values.split())


@given(st.integers(-500, 500), st.integers(0, 50), st.integers(1, 400))
def test_a_range_goes_from_first_to_last_in_equal_steps(first: int, count: int, step: int) -> None:
    """Steps of a hundredth have no rounding error."""
    start, width = Decimal(first) / 100, Decimal(step) / 100
    values = expand_values(f"{start}..{start + count * width}:{width}", "x")
    assert [Decimal(value) for value in values] == [start + number * width for number in range(count + 1)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "seed must be values such as a,b,c .*, got ''"),
        ("1,,2", "seed must be values such as .*, got '1,,2'"),
        ("1..5:0", "has 0 values"),
        ("0..1:1e-9", "has 1000000001 values; expected .* at most 100000 values"),
        ("0..1e300:1e-300", "at most 100000 values"),
    ],
)
def test_invalid_values_are_an_error(text: str, words: str) -> None:
    """The error precedes the creation of the values of a range."""
    with pytest.raises(InputError, match=words):
        expand_values(text, "seed")


def test_an_axis_multiplies_the_tasks_of_its_policies() -> None:
    """The parameter of one policy does not affect the others; a seed applies to all."""
    tasks = grid("policy.bsd.p=0.1,0.5", "seed=1..3", policies=("psm", "bsd"))
    assert policies(tasks) == ["psm"] * 3 + ["bsd:p=0.1"] * 3 + ["bsd:p=0.5"] * 3
    assert [task.scenario.seed for task in tasks.tasks()] == [1, 2, 3] * 3


def test_policies_named_only_by_axes_are_run() -> None:
    """The policies of axes follow the requested ones; lpsm is the default."""
    assert policies(grid("policy.bsd.p=0.1,0.5", policies=("psm",))) == ["psm", "bsd:p=0.1", "bsd:p=0.5"]
    assert policies(grid("policy.psm.listen_interval=2,3")) == [
        "psm:listen_interval=2",
        "psm:listen_interval=3",
    ]
    assert policies(grid("seed=1,2")) == ["lpsm", "lpsm"]


def test_a_user_defined_policy_varies_by_its_file_and_class() -> None:
    """The name of the policy has dots."""
    assert policies(grid("policy.my.py:Mine.n=1,2")) == ["my.py:Mine:n=1", "my.py:Mine:n=2"]


def test_an_axis_of_losses_and_an_axis_of_gamma_are_combined() -> None:
    """Only lpsm has a loss."""
    losses = grid("policy.lpsm.gamma=1e-4,2e-4", "loss=inverse,inverse-log", policies=("psm", "lpsm"))
    assert policies(losses) == ["psm", *(f"lpsm:gamma={gamma},loss={loss}" for gamma in ("1e-4", "2e-4")
                                        for loss in ("inverse", "inverse-log"))]  # fmt: skip
    assert policies(grid("seed=1", loss="max(1/Ti, 2)")) == ["lpsm:loss=max(1/Ti, 2)"]


def test_axes_may_vary_the_trace_and_topology_and_pages_and_settings() -> None:
    varied = grid(
        "trace.mean_think_s=20,30",
        "topology=modern",
        "pages=5",
        "power.awake_w=1,2",
        settings={"tcp.max_window": 9},
    )
    scenarios = [task.scenario for task in varied.tasks()]
    assert [str(scenario.trace) for scenario in scenarios] == ["ucb:mean_think_s=20"] * 2 + [
        "ucb:mean_think_s=30"
    ] * 2
    assert [scenario.settings for scenario in scenarios[:2]] == [
        {"tcp.max_window": "9", "power.awake_w": "1"},
        {"tcp.max_window": "9", "power.awake_w": "2"},
    ]
    assert {(scenario.topology, scenario.pages, scenario.seed) for scenario in scenarios} == {
        ("modern", 5, 1)
    }


def test_varied_values_override_a_preset() -> None:
    varied = grid("trace.server_delay_ms=100", "policy.lpsm.uplink=keep", preset=load_preset("thesis"))
    (task,) = varied.tasks()
    assert str(task.policy) == "lpsm:uplink=keep"
    assert task.scenario.trace.values["server_delay_ms"] == "100"
    assert task.scenario.trace.values["mean_think_s"] == "53.1"


@pytest.mark.parametrize(
    ("vary", "words", "sentence"),
    [
        (["links.wired.latency=1"], {}, r"Unknown axis 'links.wired.latency'.*Did you mean"),
        (["bsd.p=1"], {}, r"Unknown axis 'bsd.p'.*Did you mean 'policy.bsd.p'"),
        (["policy.p=1"], {}, "Unknown axis 'policy.p'"),
        (["seed"], {}, "Invalid axis 'seed'; expected KEY=VALUES"),
        (["policy=psm"], {}, "Unknown axis 'policy'"),
        (["seed=1.5"], {}, "seed must be an integer >= 0 and .*, got '1.5'"),
        (["seed=1,2,1"], {}, "seed: duplicate value 1; specify it once"),
        (["seed=1..2000,1000"], {}, "seed: duplicate value 1000; specify it once"),
        (["power.awake_w=0.5,0.50"], {}, "power.awake_w: duplicate value 0.50; specify it once"),
        (["power.awake_w=1"], {"settings": {"power.awake_w": "2"}}, "power.awake_w is specified twice"),
        (["loss=inverse"], {"policies": ("psm",)}, "loss has no effect on the policies psm"),
        (["policy.bsd.p=1"], {"policies": ("bsd:p=2",)}, "p is both varied and set in policy 'bsd:p=2'"),
        (["trace.mean_think_s=1"], {"trace": "ucb:mean_think_s=2"}, "mean_think_s is both varied and set"),
        (["seed=1..400", "pages=1..400"], {}, "The sweep has 160000 tasks, expected at most 100000"),
    ],
)  # fmt: skip
def test_an_invalid_axis_is_an_error(vary: list[str], words: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        grid(*vary, **words).tasks()


def test_a_grid_file_gives_the_same_tasks_as_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "grid.toml"
    path.write_text(
        'policies = ["psm", "bsd"]\ntrace = "modern"\npages = 7\n[set]\ntcp.max_window = 9\n[vary]\n'
        'policy.bsd.p = [0.1, 0.5]\n"seed" = "1..3"\nbrowser.persistent = [true, false]\n'
    )
    vary = ("policy.bsd.p=0.1,0.5", "seed=1..3", "browser.persistent=true,false")
    same = grid(*vary, policies=("psm", "bsd"), trace="modern", pages=7, settings={"tcp.max_window": 9})
    assert read_grid(path).tasks() == same.tasks()
    assert len(same.tasks()) == 18


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a = [", "is not a valid grid"),
        ("polices = []", "unknown key 'polices'.*Did you mean 'policies'"),
        ("policies = 'psm'", "policies must be a list of strings, got 'psm'"),
        ("vary = 3", "vary must be a table, got 3"),
        ("[vary]\nseed = []", "seed has no values"),
    ],
)
def test_the_error_for_an_invalid_grid_file_has_the_file_name(
    tmp_path: Path, text: str, sentence: str
) -> None:
    path = tmp_path / "grid.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"grid.toml.*{sentence}"):
        read_grid(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_grid(tmp_path / "none.toml")
