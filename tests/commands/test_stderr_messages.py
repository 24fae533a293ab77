"""Messages on standard error: one printable line per error."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import pytest

from psm_sim.cli import main
from psm_sim.commands.stderr_messages import print_message


def test_escape_sequences_in_files_do_not_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The texts are clients of a log, the version of a HAR file, and names of a profile and of a file."""
    log = tmp_path / "a\x1b[31m.log"
    log.write_text('cs20 785526125 \033]0;pwned\007\033[2Ja "http://x/" 2009 0.5\n')
    profile = tmp_path / "p.toml"
    profile.write_text('base = "ucb"\nname = "\\u001b[2J"\nremark = "\\u202e\\u0007"\n')
    har = tmp_path / "a.har"
    har.write_text(
        '{"log": {"version": "\\u001b[2J", "entries": [{"startedDateTime": "2020-01-01T00:00:00Z", '
        '"time": 5, "request": {"url": "http://x/"}, "response": {"bodySize": 5, "headersSize": 5}}]}}'
    )
    commands = [
        [*words, str(path)]
        for path in (log, profile, har)
        for words in (
            ["trace", "info"],
            ["--policy", "psm", "--pages", "2", "--trace"],
        )
    ]
    for words in [
        *commands,
        ["--trace", f"{log}:clients=zz"],
        ["--topology", str(tmp_path / "\x1b[31m.toml")],
    ]:
        status = main(words)
        output, complaint = capsys.readouterr()
        assert status == 0 or complaint
        assert all(part.isprintable() for part in (output + complaint).split("\n")), words


def test_warnings_of_libraries_are_not_shown_to_users(
    capsys: pytest.CaptureFixture[str], monkeypatch
) -> None:

    def warn(_: argparse.Namespace) -> int:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning(RuntimeWarning("overflow"), RuntimeWarning, "numpy.py", 3)
        print_message("still here")
        return 0

    monkeypatch.setattr("psm_sim.commands.list.run", warn)
    assert main(["list"]) == 0
    assert capsys.readouterr().err == "psm_sim: still here\n"
