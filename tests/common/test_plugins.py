"""Classes from files of users, and components by name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, PluginError
from psm_sim.common.plugins import load_class
from psm_sim.common.registry import Registry
from psm_sim.losses import Loss

MINE = """
from psm_sim.losses import Loss

LIMIT = {limit}

class Mine(Loss):
    def __call__(self, poll, times_ms):
        return LIMIT / times_ms

class Unfinished(Loss):
    pass

class Other:
    pass
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file of a user."""
    path = tmp_path / "my file.py"
    path.write_text(MINE.format(limit=1))
    return path


def test_a_module_next_to_the_plugin_file_is_imported_again_after_an_edit(file: Path) -> None:
    """Another module may import it, too, and another folder may have a module with its name."""
    folders = [file.parent / name for name in ("a", "b")]
    for limit, folder in enumerate(folders):
        folder.mkdir()
        (folder / "mine.py").write_text(MINE.format(limit=1) + "from between import limit")
        (folder / "between.py").write_text("from deep_down import limit")
        (folder / "deep_down.py").write_text(f"limit = {limit}")
    mine = [str(folder / "mine.py") for folder in folders]

    def limits() -> list[int]:
        return [sys.modules[load_class(path, "Mine", Loss).__module__].limit for path in mine]

    assert limits() == [0, 1]
    (folders[0] / "deep_down.py").write_text("limit = 5")
    assert limits() == [5, 1]
    assert [path.name for path in Spec(f"{mine[0]}:Mine").files()] == [
        "mine.py",
        "between.py",
        "deep_down.py",
    ]


def test_no_bytecode_is_written_next_to_the_plugin_file(file: Path) -> None:
    load_class(str(file), "Mine", Loss)
    assert [path.name for path in file.parent.iterdir()] == ["my file.py"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Nine", "my file.py has no class 'Nine'; expected one of Mine, Unfinished"),
        ("", "has no class ''"),
        ("Other", r"Other in .* must be a class derived from .* Loss, got class Other[.]"),
        ("LIMIT", r"LIMIT in .* must be .*, got 1"),
        ("Unfinished", "Unfinished in .* does not define __call__"),
        ("Loss", "Loss in .* does not define __call__"),
    ],
)
def test_the_error_for_an_invalid_class_has_the_name_of_the_class(
    file: Path, name: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load_class(str(file), name, Loss)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import there_is_no_such_module", "ModuleNotFoundError: No module named 'there_is_no_such_module'"),
        ("def f(:", "SyntaxError: invalid syntax"),
        ("raise ValueError('two\\nlines')", "ValueError: two lines"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("x = '\0'", "SyntaxError|ValueError"),
    ],
)
def test_the_error_for_a_plugin_file_that_cannot_be_imported_has_the_reason(
    tmp_path: Path, text: str, reason: str
) -> None:
    path = tmp_path / "bad.py"
    path.write_text(text)
    for _ in range(2):
        with pytest.raises(PluginError, match=f"bad.py cannot be imported: .*{reason}") as caught:
            load_class(str(path), "Mine", Loss)
        assert "\n" not in str(caught.value)


def test_the_error_for_a_missing_file_has_the_file_name(tmp_path: Path) -> None:
    for path in (tmp_path / "no.py", tmp_path):
        with pytest.raises(InputError, match=r"File not found: .*; expected a file that defines a class"):
            load_class(str(path), "Mine", Loss)


LOSSES: Registry[Loss] = Registry("loss", Loss, {"inverse": "psm_sim.losses.published_losses:InverseLoss"})


def test_the_error_for_the_name_of_a_preset_in_another_option_suggests_the_option_preset() -> None:
    """The wrong options are those of traces, topologies and others."""
    with pytest.raises(InputError, match="household is a preset; use --preset household"):
        LOSSES.create("household")
