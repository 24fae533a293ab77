"""Sets of files: all of them new, or all of them old."""

from __future__ import annotations

from pathlib import Path

import pytest

from psm_sim.common.errors import InputError
from psm_sim.common.files import atomic_directory
from psm_sim.common.files.atomic_directory import replace_directory

NAMES = ("a.json", "b.csv", "deep/c.png")


def write_set(folder: Path, text: str) -> None:
    """Write the set, each file with the same text."""
    with replace_directory(folder) as made:
        for name in NAMES:
            (made / name).parent.mkdir(exist_ok=True)
            (made / name).write_text(text)


def names(folder: Path) -> list[str]:
    """Return the names in a folder, hidden ones too."""
    return sorted(path.name for path in folder.iterdir())


def contents(folder: Path) -> dict[str, str]:
    """Return the text of every file in a folder."""
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(params=["exchanged", "renamed one by one"])
def either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let the test run with the exchange of folders, and where the system has none."""
    if request.param != "exchanged":

        def impossible(*_: Path) -> None:
            raise OSError(38, "Function not implemented")

        monkeypatch.setattr(atomic_directory, "exchange_paths", impossible)
    return str(request.param)


@pytest.mark.usefixtures("either")
def test_a_set_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    """What else is in the folder stays, links and folders included."""
    folder = tmp_path / "made" / "with" / "parents"
    write_set(folder, "old")
    (folder / "mine.txt").write_text("mine")
    (folder / "deep" / "mine.txt").write_text("mine, too")
    (folder / "link").symlink_to("mine.txt")
    write_set(folder, "new")
    assert contents(folder) == {
        **dict.fromkeys(NAMES, "new"),
        "mine.txt": "mine",
        "link": "mine",
        "deep/mine.txt": "mine, too",
    }
    assert (folder / "link").is_symlink()
    assert names(tmp_path) == ["made"]
    assert names(folder.parent) == ["parents"]


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_a_failure_on_the_way_changes_nothing(tmp_path: Path, error: BaseException) -> None:
    """Neither the files nor the folder, nor the ones that would have been made."""
    for folder in (tmp_path / "there", tmp_path / "not" / "there"):
        if folder.name == "there" and folder.parent == tmp_path:
            write_set(folder, "old")
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises((KeyboardInterrupt, InputError)), replace_directory(folder) as made:  # noqa: PT012 (the block is tested)
            (made / "a.json").write_text("half")
            raise error
        assert sorted(tmp_path.rglob("*")) == before
    assert set(contents(tmp_path / "there").values()) == {"old"}


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_renames_are_undone_if_one_of_them_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    """Also for the user who breaks off between two of them."""
    monkeypatch.chdir(tmp_path)  # here no folder is exchanged
    write_set(tmp_path, "old")
    (tmp_path / "b.csv").unlink()
    before, count, rename = contents(tmp_path), 0, Path.replace

    def broken(self: Path, place: Path) -> Path:
        nonlocal count
        count += 1
        if count == failing:
            raise KeyboardInterrupt
        return rename(self, place)

    monkeypatch.setattr(Path, "replace", broken)
    with pytest.raises(KeyboardInterrupt):
        write_set(tmp_path, "new")
    assert contents(tmp_path) == before


def test_the_folder_one_stands_in_stays_the_same_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell that was started there would else stand in a folder that is gone."""
    monkeypatch.chdir(tmp_path)
    before = tmp_path.stat().st_ino
    write_set(Path(), "old")
    write_set(Path(), "new")
    assert tmp_path.stat().st_ino == before
    assert set(contents(tmp_path).values()) == {"new"}


def test_a_folder_with_very_many_files_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The set is renamed into it, and the inode of the folder stays."""
    monkeypatch.setattr(atomic_directory, "MAX_OTHERS", 5)
    write_set(tmp_path / "x", "old")
    for number in range(10):
        (tmp_path / "x" / str(number)).write_text("mine")
    before = (tmp_path / "x").stat().st_ino
    write_set(tmp_path / "x", "new")
    assert (tmp_path / "x").stat().st_ino == before
    assert len(contents(tmp_path / "x")) == 10 + len(NAMES)


def test_what_another_writes_at_the_same_time_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the links and the exchange."""
    write_set(tmp_path / "x", "old")
    exchange = atomic_directory.exchange_paths

    def late(made: Path, target: Path) -> None:
        (target / "late.txt").write_text("late")
        exchange(made, target)

    monkeypatch.setattr(atomic_directory, "exchange_paths", late)
    write_set(tmp_path / "x", "new")
    assert contents(tmp_path / "x") == {**dict.fromkeys(NAMES, "new"), "late.txt": "late"}
