"""Components of other packages: an installed distribution with entry points."""

from __future__ import annotations

from pathlib import Path

import pytest

from psm_sim.common.errors import InputError
from psm_sim.policies import make_policy
from psm_sim.workload import load_workload

MODULE = """
from pathlib import Path

HERE = Path(__file__).with_name("tides.csv")

def asked():
    return HERE

def missing():
    return HERE.with_name("ebb.csv")

def late():
    raise RuntimeError("no tide today")
"""
POINTS = """
[psm_sim.traces]
tides = offered_tides:HERE
asked = offered_tides:asked
ebb = offered_tides:missing
late = offered_tides:late

[psm_sim.policies]
broken = offered_tides:Nothing
"""


@pytest.fixture(autouse=True)
def _offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a distribution with traces and a policy."""
    (tmp_path / "offered_tides.py").write_text(MODULE)
    (tmp_path / "tides.csv").write_text("page,think_s,main_bytes,images\n1,2,1000,200;300\n")
    record = tmp_path / "offered_tides-1.2.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: offered-tides\nVersion: 1.2\n")
    (record / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.parametrize("name", ["tides", "asked"])
def test_the_entry_point_of_a_trace_may_be_a_path_or_a_function(name: str) -> None:
    """Both give the same page."""
    (page,) = load_workload(name, 1, 1).pages
    assert (page.main_bytes, page.image_bytes) == (1000, (200, 300))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("ebb", "Trace ebb of offered-tides 1.2 must be a trace file, got .*ebb.csv'"),
        ("late", "trace late of offered-tides 1.2: the path of its file cannot be read.*no tide today"),
        ("tide", "Did you mean 'tides'"),
    ],
)
def test_the_error_for_an_invalid_component_has_the_package_name(name: str, sentence: str) -> None:
    """The error precedes any page load."""
    with pytest.raises(InputError, match=sentence):
        load_workload(name, 1, 1)


def test_the_error_for_a_failed_import_has_the_package_name() -> None:
    """The error also has the entry point."""
    with pytest.raises(InputError, match=r"broken of offered-tides 1.2 \(offered_tides:Nothing\) cannot be"):
        make_policy("broken")
