"""The command line: arguments, exit status, and one line per error."""

from __future__ import annotations

import errno
import re
from pathlib import Path

import pytest

from psm_sim import __version__
from psm_sim.cli import SUBCOMMANDS, main
from tests.workload.recordings.ucb_files import SHOWTRACE

PAGE_LIST = "page,think_s,main_bytes,images\n"


FILES = {
    "p.csv": PAGE_LIST + "1,1,1000,\n",
    "s.log": SHOWTRACE,
    "many.toml": 'base = "ucb"\n[files_per_page]\nquantiles = [[1, 100000]]\n',
    "huge.toml": 'base = "ucb"\n[files_per_page]\nquantiles = [[1, 1e12]]\n',
    "tiny.toml": 'base = "ucb"\n[think_s]\ninterpolation = "log"\nquantiles = [[0, 1e-320], [1, 1e8]]\n',
    "digits.toml": f'base = "ucb"\n[think_s]\nquantiles = [[1, {"9" * 400}]]\n',
    "taken": "",
}

MENDABLE = [
    ("--policy psmm", "Unknown policy 'psmm'; expected one of always-on, psm, bsd, lpsm.*Did you mean 'psm'"),
    ("--trace missing.csv", "Trace file not found: 'missing.csv'; expected"),
    ("--set nothing", "--set: invalid setting 'nothing'; expected key=value"),
    ("--preset", "--preset requires a value"),
    ("--trace mqtt:interval=30", "no parameter 'interval'; expected one of 49 names, such as .*period_s"),
    (r"--trace C:\x\y.csv", r"Trace file not found: 'C:.*y.csv'"),
    ("--loss inverse --policy psm", "loss 'inverse' has no effect without an lpsm policy"),
    (
        "--loss inverse --policy lpsm:loss=inverse-log",
        "loss 'inverse' conflicts with loss= in 'lpsm:loss=inverse-log'",
    ),
    ("--pages 0", "--pages must be an integer from 1"),
    ("--pages ٣", "--pages must be an integer from 1 to 500000, got '٣'"),
    ("--set power.awake_w=٣", "power: awake_w must be a number >= 0 .*, got '٣'"),
    ("--battery ٣Ah", "battery must be a capacity > 0"),
    ("losses inverse --gamma ٣", "--gamma must be a number > 0"),
    ("advise --latency ٣ms", "--latency must be a time in ms"),
    ("--trace ucb:server_delay_ms=٣", "server_delay_ms must be a number"),
    ("sweep --vary seed=1..٣", "seed must be an integer"),
    ("--pages", "--pages requires a value, e.g. --pages=VALUE"),
    ("--output taken", "--output must be a folder, got 'taken'; '.*taken' is a file"),
    ("--policy PSM", "Unknown policy 'PSM'.*Did you mean 'psm'"),
    ("--policy psm,lpsm", "Unknown policy 'psm,lpsm'; expected [^.]*[.]py:CLASS[.]$"),
    ("--jobs 3", "Unknown option '--jobs'.*Did you mean '--workers'"),
    ("--quiet", "Unknown option '--quiet'; see 'psm_sim --help'[.]$"),
    ("--set dtim=3", "Unknown topology key 'dtim'; .{,150}Did you mean 'beacon.dtim_period'"),
    (
        "--set stations=3",
        "Unknown topology key 'stations'; expected one of 'psm_sim list topologies'[.]$",
    ),
    ("sweep exprt s.sqlite", "Unknown sweep action 'exprt'.*Did you mean 'export'"),
    ("--format xml", "--format must be one of table, json, csv, latex, got 'xml'[.]"),
    ("--polic psm", "Unknown option '--polic'; see 'psm_sim --help'. Did you mean '--policy'"),
    ("--policy psm bsd", "Unexpected argument 'bsd'; .* one value; repeat --policy for several values"),
    ("--trace ucb ping", "Unexpected argument 'ping'; .* one value; see 'psm_sim --help'"),
    ("--trace ucb --trace=ping", "--trace must be given once, got 'ucb' and 'ping'"),
    ("--seed 1 --seed 1", "--seed must be given once, got 1 and 1"),
    ("--trace=", "--trace requires a value, got ''"),
    ("--profile=", "--profile requires a value, got ''"),
    ("--latency -1ms", "--latency must be a time in ms"),
    ("losses inverse --gamma -1e-6", "--gamma must be a number > 0, got '-1e-6'"),
    ("swep", "Unknown subcommand 'swep'; expected .*Did you mean 'sweep'"),
    ("list policies psm bsd", "Unexpected argument 'bsd'; .*see 'psm_sim list --help'"),
    ("list --all", "--all has no effect because no parameters are listed"),
    ("list policies --all --format json", "--all has no effect because JSON has all parameters"),
    ("list tracs", "kind must be one of .*got 'tracs'. Did you mean 'traces'"),
    ("trace convert p.csv --to q.csv --seed 3", "--seed=3 has no effect"),
    ("trace info ucb:nosuch=1", "nosuch=1 has no effect"),
    ("trace info s.log:server_delay_ms=4", "server_delay_ms=4 has no effect because it only applies"),
    ("trace info p.csv:nosuch=1", "no parameter 'nosuch'"),
    ("trace convert s.log --to=", "--to requires a value, got ''"),
    ("trace convert ucb --to t.csv --pages 100000000000", "--pages must be an integer from 1"),
    ("--policy psm --force", "--force has no effect without --output, --plot"),
    ("sweep --policy psm --vary mac.beacon_mbps=1,2", "mac.beacon_mbps has no effect without mac.model"),
    ("sweep --policy psm --vary seed=1,2 --set faults.restart_s=3", "without faults.restart_every_s"),
    ("sweep --policy psm --cluster tcp://127.0.0.1:1 --workers 2", "which has its own workers"),
    ("sweep --policy psm --vary seed=1,2 --cluster=", "--cluster requires a value, got ''"),
    ("sweep --vary seed=1,2 --output s.csv", "--output must be a file that ends in .sqlite, got 's.csv'"),
    ("sweep --output=", "--output requires a value, got ''"),
    ("--seed 99999999999999999999", "seed must be an integer"),
    ("--pages " + "9" * 5000, "--pages must be an integer from 1 to 500000"),
    ("--trace many.toml --pages 1000", "expected"),
    ("--trace huge.toml", "files_per_page: a value must be at least 0 and at most 100000"),
    ("--trace tiny.toml", "think_s: a value must be at least 1e-09"),
    ("--trace digits.toml", "think_s: a point must be .cumulative probability, value., got "),
    ("--trace s.log:clients=" + "9" * 5000, "clients must be"),
    ("--workers 2000", "--workers must be an integer"),
    ("losses inverse inverse:gamma=2", "loss inverse is given twice"),
    ("losses inverse --price -1", "--price must be a number > 0, got '-1'"),
    ("losses inverse --price 1 --gamma 1", "gamma and price both set gamma"),
    ("losses 0*Ti --price 1 --pages 1", "no gamma of loss 0[*]Ti implies a price of delay of 1 W"),
    ("losses inverse --gamma 0", "--gamma must be a number > 0, got '0'"),
    ("losses inverse --trace ping", "trace ping has no pages"),
    ("losses inverse --set browser.max_page_s=1", "losses are compared on pages that cannot fail"),
    ("losses inverse --output a.txt", "--output must be a file that ends in .html or .htm, got 'a.txt'"),
    ("trace convert ucb --to x.tr", r"--to must be a file that ends in .csv or .csv.gz, got 'x\.tr'"),
    ("trace fit ucb --to x.toml", "is already a profile"),
    ("sweep export s.sqlite --force", "--force has no effect"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with invalid files."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("words", "message"), MENDABLE, ids=[words[:60] for words, _ in MENDABLE])
def test_a_user_error_gives_one_line_and_status_2(
    folder: Path, capsys: pytest.CaptureFixture[str], words: str, message: str
) -> None:
    """The line has the value and the expected values. There is no other output, and no file."""
    assert main(words.split(" ")) == 2
    output, complaint = capsys.readouterr()
    assert output == ""
    assert complaint.startswith("psm_sim: ")
    assert complaint.count("\n") == 1
    assert len(complaint) < 1_000
    assert complaint.endswith(("?\n", ".\n"))
    assert re.search(message, complaint)
    assert {path.name for path in folder.iterdir()} == set(FILES)


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_subcommand_has_its_own_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each name in the table is a module with a command."""
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert f"usage: psm_sim {name}" in capsys.readouterr().out


def test_the_export_of_a_sweep_has_its_own_help(capsys: pytest.CaptureFixture[str]) -> None:
    """The error for an unknown option suggests its own options."""
    with pytest.raises(SystemExit) as ended:
        main(["sweep", "export", "--help"])
    assert ended.value.code == 0
    assert "usage: psm_sim sweep export FILE" in capsys.readouterr().out
    assert main(["sweep", "export", "x.sqlite", "--debu=1"]) == 2
    assert "Did you mean '--debug'" in capsys.readouterr().err


def test_the_printed_version_is_the_version_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    """The output is one line."""
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"psm_sim {__version__}\n"


@pytest.mark.parametrize(
    ("error", "status", "complaint"),
    [
        (KeyboardInterrupt(), 130, "psm_sim: interrupted.\n"),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 0, ""),
        (OSError(errno.ENOSPC, "No space left on device"), 2, "cannot access the output: No space left"),
        (PermissionError(errno.EACCES, "Permission denied", "x.csv"), 2, "cannot access x.csv: Permission"),
        (MemoryError(), 2, "out of memory; use a smaller file"),
        (RecursionError("maximum recursion depth exceeded"), 2, "RecursionError: maximum recursion"),
        (ZeroDivisionError("float division by zero"), 2, "ZeroDivisionError: float division by zero"),
        (GeneratorExit(), 2, "internal error: GeneratorExit"),
        (SystemExit(0), 2, "sys.exit() was called during the run"),
        (type("Own", (BaseException,), {})("x"), 2, "Own: x"),
    ],
)
def test_errors_and_interrupts_end_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    status: int,
    complaint: str,
) -> None:
    """An interrupt is one line, a closed pipe is silent, and --debug shows the traceback."""

    def fail(*_: object) -> int:
        raise error

    monkeypatch.setattr("psm_sim.commands.list.run", fail)
    assert main(["list"]) == status
    output, message = capsys.readouterr()
    assert output == ""
    assert message == complaint or (complaint and complaint in message and message.count("\n") == 1)
    assert main(["list", "--debug"]) == status
    assert ("Traceback (most recent call last)" in capsys.readouterr().err) == (status > 0)
