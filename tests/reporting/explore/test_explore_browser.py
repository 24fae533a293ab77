"""The interactive page in a browser: no request to another host, and controls that change what is shown."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from psm_sim.commands.explore import compare
from psm_sim.common.progress import no_progress
from tests.commands.test_explore import server
from tests.reporting.html.test_browser import asked, browser

__all__ = ["browser"]

MODEL = "const model = Bokeh.documents[0].get_model_by_name(arguments[0]);"
TEXT = f"{MODEL} return model.text;"
CHOOSE = f"""{MODEL}
const list = Bokeh.index.find_one(model).input_el;
[...list.options].find((option) => option.text === arguments[1]).selected = true;
list.dispatchEvent(new Event("change"));
"""
MARK = f"""{MODEL}
const marks = [...model.references()].filter((part) => part.tags?.includes("marks"));
const data = marks.find((part) => part.data.name[0] === arguments[1]).data;
return [data.x[0], data.y[0]];
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with server() as (_, address):
        yield address


@pytest.fixture
def page(browser: Any, address: str) -> Any:
    """Open the page and wait for its first simulation."""
    for name in ("browser", "performance"):
        browser.get_log(name)
    browser.get(address)
    wait_for_command(browser, "--trace ucb")
    return browser


def wait_for_command(page: Any, part: str) -> str:
    """Return the command line as soon as *part* is in it and the page does not simulate."""

    def found(page: Any) -> str:
        if not page.execute_script("return window.Bokeh?.documents?.length && Bokeh.documents[0].is_idle"):
            return ""
        # In this order: the status is the last part that changes.
        command, status = (page.execute_script(TEXT, name) for name in ("command", "status"))
        return command if part in command and "simulating" not in status else ""

    wait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait(page, 60)
    return str(wait.until(found)).removeprefix("<code>").removesuffix("</code>")


def choose(page: Any, name: str, value: str) -> None:
    """Choose a value of a list as a user does."""
    page.execute_script(CHOOSE, name, value)


def test_nothing_is_asked_of_another_host_and_nothing_fails(page: Any, address: str) -> None:
    hosts = {urlsplit(each).netloc for each in asked(page) if not each.startswith(("data:", "blob:"))}
    assert hosts == {urlsplit(address).netloc}
    assert [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_a_control_changes_figure_conclusion_and_command(page: Any) -> None:
    before = [page.execute_script(MARK, "plane", "psm"), page.execute_script(TEXT, "conclusion")]
    choose(page, "seeds", "1")
    choose(page, "round_trip_ms", "160")
    command = wait_for_command(page, "latency_ms=80")
    after = [page.execute_script(MARK, "plane", "psm"), page.execute_script(TEXT, "conclusion")]
    assert before[0] != after[0]
    assert before[1] != after[1]
    assert "One seed" in after[1]
    psm = compare(shlex.split(command)[3:], no_progress).baselines[1]
    assert after[0] == pytest.approx([psm.slowdown.mean, psm.energy_per_page_j])


def test_the_page_fits_a_narrow_screen(page: Any) -> None:
    for width in (1200, 400):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        wait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait(page, 30)
        wait.until(
            lambda page, w=width: page.execute_script("return document.documentElement.scrollWidth") <= w
        )
