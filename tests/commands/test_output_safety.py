"""No command replaces a file that it reads, and none replaces an existing file without ``--force``."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable
from contextlib import chdir
from itertools import cycle
from pathlib import Path

import pytest

import psm_sim
from psm_sim.cli import main
from psm_sim.common.errors import InputError

FOREIGN = b"not from psm_sim"

RUN = "--trace page-list.csv --policy psm"

WRITERS = {
    "trace convert page-list.csv --to x.csv": ("page-list.csv", "x.csv"),
    "trace fit page-list.csv --to x.toml": ("page-list.csv", "x.toml"),
    f"{RUN} --output out": ("page-list.csv", "out/result.json"),
    f"{RUN} --output out --seed 2": ("page-list.csv", "out/pages.csv"),
    f"{RUN} --plot x.svg": ("page-list.csv", "x.svg"),
    f"{RUN} --capture x.pcap": ("page-list.csv", "x.pcap"),
    f"{RUN} --policy bsd --timeline x.json": ("page-list.csv", "x-bsd.json"),
    f"{RUN} --loss mine.py:Mine --policy lpsm --timeline x.json": ("mine.py", "x-psm.json"),
    f"{RUN} --topology site.toml --plot x.pdf": ("site.toml", "x.pdf"),
    f"{RUN} --topology site.toml --capture x.pcap": ("maps/building.toml", "x.pcap"),
    f"{RUN} --topology site.toml --timeline x.json": ("maps/base.toml", "x.json"),
    "--topology stations.toml --pages 1 --policy psm --capture x.pcap": ("page-list.csv", "x.pcap"),
    "--topology stations.toml --pages 1 --policy psm --timeline x.json": ("mine.py", "x.json"),
    f"{RUN} --policy mine.py:Sleeps --plot x.png": ("mine.py", "x.png"),
    f"{RUN} --against mine.py:Sleeps --plot x.png": ("mine.py", "x.png"),
    f"{RUN} --preset preset.toml --capture x.pcap": ("preset.toml", "x.pcap"),
    "sweep export s.sqlite --to x.csv": ("s.sqlite", "x.csv"),
}
"""Each command that writes a file, one file that it reads, and one that it writes."""

LINKS: tuple[Callable[[Path, Path], None], ...] = (os.symlink, os.link)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one input file of each kind."""
    folder = tmp_path_factory.mktemp("inputs")
    with chdir(folder):
        write_inputs()
    return folder


def write_inputs() -> None:
    """Write one input file of each kind to the current folder."""
    Path("page-list.csv").write_text("page,think_s,main_bytes,images\n1,5,1000,100;200\n2,2.5,4000,\n")
    assert main(["trace", "fit", "page-list.csv", "--to", "mine.toml"]) == 0
    Path("mine.py").write_text(
        "from psm_sim.losses import Loss\n\n\nclass Mine(Loss):\n    name = 'mine'\n"
        "    def __call__(self, poll, times_ms):\n        return 1 / times_ms\n"
        "from psm_sim.policies import Policy, Rest\n\n\nclass Sleeps(Policy):\n    name = 'sleeps'\n"
        "    def rest(self, now_s, since_uplink_s, poll):\n        return Rest()\n"
    )
    Path("maps").mkdir()
    Path("site.toml").write_text('extends = "maps/building.toml"\n[power]\nawake_w = 0.8\n')
    Path("maps/building.toml").write_text('extends = "base.toml"\n')
    Path("maps/base.toml").write_text("[links.wired]\nlatency_ms = 30\n")
    stations = '[mac]\nmodel = "dcf"\n[[stations]]\nname = "a"\n[[stations]]\nname = "b"\n'
    own = 'trace = "page-list.csv"\npolicy = "mine.py:Sleeps"\n'
    Path("stations.toml").write_text(stations + own)
    Path("preset.toml").write_text('description = "mine"\n')
    words = ["--policy", "psm", "--pages", "1", "--workers", "1", "--format", "csv"]
    assert main(["sweep", *words, "--output", "s.sqlite"]) == 0
    shutil.copy("s.sqlite", "s.csv")


@pytest.fixture(autouse=True)
def folder(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a copy of the inputs. Do not draw the figures of ``--output``."""
    monkeypatch.setattr("psm_sim.reporting.figures.comparison.figures_of", lambda *_: {})
    monkeypatch.setattr("psm_sim.reporting.html.comparison.html_of", lambda *_: "<!doctype html>")
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files by name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refusal(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the error of a command, and check that it changes nothing."""
    before = contents(folder)
    capsys.readouterr()
    assert main(shlex.split(line)) == 2
    output, message = capsys.readouterr()
    assert (output, message.count("\n")) == ("", 1)
    assert contents(folder) == before
    return message


@pytest.mark.parametrize(("line", "link"), [*zip(WRITERS, cycle(LINKS), strict=False)])
def test_writing_an_output_through_a_link_to_an_input_is_an_error(
    line: str, link: Callable[[Path, Path], None], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another name, a symbolic or hard link, and --force do not avoid the error."""
    source, target = map(Path, WRITERS[line])
    target.parent.mkdir(exist_ok=True)
    link(source.absolute(), target)
    for ending in ("", " --force"):
        message = refusal(line + ending, folder, capsys)
        assert f"the output {str(target)!r} is an input of the same command" in message


@pytest.mark.parametrize("line", WRITERS)
def test_an_existing_file_is_replaced_only_with_force(
    line: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = Path(WRITERS[line][1])
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(FOREIGN)
    assert f"{str(target)!r} already exists; choose another output, or add --force" in refusal(
        line, folder, capsys
    )
    assert main(shlex.split(f"{line} --force")) == 0
    assert target.read_bytes() != FOREIGN
    assert "already exists" in refusal(line, folder, capsys)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("trace convert page-list.csv --to page-list.csv", "page-list.csv"),
        ("sweep export s.csv --to s.csv", "s.csv"),
        ("--policy psm --trace x.pcap --capture x.pcap", "x.pcap"),
        ("--policy psm --trace out/pages.csv --output out", "out/pages.csv"),
    ],
)
def test_writing_an_output_over_the_input_of_the_same_command_is_an_error(
    line: str, name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--force does not avoid the error."""
    assert main(["--policy", "psm", "--pages", "1", "--capture", "x.pcap"]) == 0
    Path("out").mkdir()
    Path("out/pages.csv").write_bytes(Path("page-list.csv").read_bytes())
    assert f"the output {name!r} is an input of the same command" in refusal(
        f"{line} --force", folder, capsys
    )


def test_writing_two_outputs_to_the_same_file_is_an_error(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The later output would replace the earlier one."""
    Path("out").mkdir()
    line = f"{RUN} --output out --timeline out/result.json"
    assert "--output and --timeline both write 'out/result.json'" in refusal(line, folder, capsys)


def test_the_python_functions_do_not_overwrite_an_input_file(folder: Path) -> None:
    """Earlier captures are replaced, as in other libraries."""
    psm_sim.simulate("psm", pages=1, capture="x.pcap")
    psm_sim.simulate("psm", pages=1, capture="x.pcap")
    before = contents(folder)
    with pytest.raises(InputError, match=r"'x\.pcap' is an input of the same command"):
        psm_sim.simulate("psm", trace="x.pcap", capture="x.pcap")
    assert contents(folder) == before


def test_the_losses_command_writes_both_files_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The disk has space for the table, but not for the page."""
    resource = pytest.importorskip("resource")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.dont_write_bytecode", True)  # the full disk would truncate bytecode files
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        arguments = ["losses", "inverse", "--pages", "1", "--replications", "1", "--workers", "1"]
        status = main([*arguments, "--output", "losses.html"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert status == 2
    assert "'losses.html' cannot be written: File too large" in capsys.readouterr().err
    assert not [*tmp_path.glob("losses.*"), *tmp_path.glob(".psm_sim-*")]
