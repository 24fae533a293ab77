"""Trace profiles in TOML."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from psm_sim.common.errors import InputError
from psm_sim.workload import load_workload

TABLE = "interpolation='linear'\nquantiles=[[0, 1], [1, 9]]\n"
GOOD = "".join(f"[{name}]\n{TABLE}" for name in ("think_s", "files_per_page", "request_bytes", "reply_bytes"))


def load(folder, text, pages=20, parameters=""):
    """Return the workload of a profile with this text."""
    path = folder / "my.toml"
    path.write_text(text)
    return load_workload(f"{path}{parameters}", pages, 1)


def test_a_user_defined_profile_is_sampled(tmp_path: Path) -> None:
    """Four tables define a trace; without a delay table the server responds immediately."""
    workload = load(tmp_path, GOOD)
    assert workload.name == "my"
    assert len(workload.pages) == 20
    assert all(1 <= page.think_s <= 9 and page.server_delay_s[0] == 0 for page in workload.pages)


def test_the_command_line_overrides_the_defaults_that_a_profile_sets(tmp_path: Path) -> None:
    text = "[parameters]\nserver_delay_ms = 30\nfiles_are_images = true\n" + GOOD
    assert load(tmp_path, text).pages[0].server_delay_s[0] == 0.03
    assert load(tmp_path, text).parameters["files_are_images"] is True
    assert load(tmp_path, text, parameters=":server_delay_ms=40").pages[0].server_delay_s[0] == 0.04


def test_main_and_embedded_objects_may_have_their_own_sizes(tmp_path: Path) -> None:
    sizes = "[main_bytes]\nquantiles=[[1, 1000]]\n[image_bytes]\nquantiles=[[1, 10]]\n"
    workload = load(tmp_path, GOOD.replace("[reply_bytes]\n" + TABLE, sizes))
    assert {page.main_bytes for page in workload.pages} == {1000}
    assert {size for page in workload.pages for size in page.image_bytes} == {10}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("think_s = [", "my.toml is not a valid trace profile: .*expected a TOML file"),
        (GOOD.replace("[reply_bytes]", "[main_bytes]"), "missing table image_bytes"),
        ('synthetic = "false"\n' + GOOD, "my.toml: synthetic must be true or false, got 'false'"),
        (GOOD.replace("[think_s]", "[think]"), "unknown key think;"),
        (
            GOOD.replace("[[0, 1], [1, 9]]", "[[0, 1, 2]]", 1),
            "think_s: a point must be .*, got \\[0, 1, 2\\]",
        ),
        (GOOD.replace("[[0, 1], [1, 9]]", "[]", 1), "think_s: the table is empty"),
        ("parameters = 3\n" + GOOD, "parameters must be a table .*, got 3"),
        (
            re.sub(r"(files_per_page\]\n.*\n.*)\[0, 1\]", r"\1[0, 0]", GOOD),
            "smallest files_per_page must be at least 1 .*, got 0",
        ),
        ('base = "ucb"\n[main_bytes]\nquantiles = [[1.0, 1]]\n', "missing table image_bytes"),
        (
            f'base = "ucb"\n[think_s]\nquantiles = [[1.0, {"9" * 5000}]]\n',
            "is not a valid trace profile: Exceeds the limit",
        ),
    ],
)
def test_errors_state_file_and_table_and_expectation(tmp_path: Path, text, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(tmp_path, text)
