"""The HTML report and the interactive page in a browser: no errors, and working controls."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from psm_sim.cli import main
from psm_sim.commands.explore import compare_arguments
from psm_sim.reporting.explore.server import Simulator, open_server
from psm_sim.reporting.explore.settings import Settings

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if not (CHROMIUM and DRIVER):
    pytest.skip("there is no chromium with chromedriver here", allow_module_level=True)
webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

HOSTILE = "<script>alert(1)</script>.csv"
QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the report of a run on a trace whose name is a script."""
    folder = tmp_path_factory.mktemp("page")
    trace = folder / HOSTILE
    trace.parent.mkdir()
    rows = "".join(f"{page},3.5,{800 * page},{700 * page};900\n" for page in range(1, 7))
    trace.write_text(f"page,think_s,main_bytes,images\n{rows}")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        words = ["--policy", "bsd:p=0.5", "--policy", "psm", "--trace", HOSTILE]
        assert main([*words, "--output", "out"]) == 0
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Return a headless browser that records its console and its requests."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for word in (*QUIET, f"--user-data-dir={tmp_path_factory.mktemp('profile')}", "--window-size=1100,900"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=DRIVER)
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


def shown(browser: Any, path: Path) -> Any:
    """Open a page and return the browser."""
    for name in ("browser", "performance"):
        browser.get_log(name)
    browser.get(path.as_uri())
    return browser


def requested(browser: Any) -> list[str]:
    """Return the addresses that the page has requested, without those of the first tab of the browser."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [message["params"] for message in messages if message["method"] == "Network.requestWillBeSent"]
    return [message["request"]["url"] for message in sent if message["documentURL"] == browser.current_url]


def test_the_report_sends_no_requests_and_has_no_errors(browser: Any, folder: Path) -> None:
    """The only address is that of the report, and the console has no warnings."""
    shown(browser, folder / "out/report.html")
    far = [url for url in requested(browser) if not url.startswith(("data:", "blob:"))]
    assert far == [(folder / "out/report.html").as_uri()]
    errors = [entry for entry in browser.get_log("browser") if entry["level"] in ("WARNING", "SEVERE")]
    assert errors == []


def test_a_name_that_contains_a_script_is_shown_as_text(browser: Any, folder: Path) -> None:
    """The page has the name verbatim, and there is no alert."""
    shown(browser, folder / "out/report.html")
    assert HOSTILE in browser.find_element("tag name", "body").get_attribute("textContent")
    alerts = pytest.importorskip("selenium.webdriver.support.expected_conditions").alert_is_present()
    assert not alerts(browser)
    assert "alert(1)" not in "".join(
        element.get_attribute("textContent")
        for element in browser.find_elements("css selector", "script:not([type])")
    )


@pytest.mark.parametrize(("width", "dark"), [(1200, False), (380, True)])
def test_the_report_fits_windows_of_any_width_in_light_and_in_dark_mode(
    browser: Any, folder: Path, width: int, dark: bool
) -> None:
    """The page does not overflow, scrolling tables say so, and figures have the colour of the page."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    shown(browser, folder / "out/report.html")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    says_so, scrolls = browser.execute_script("""
const tables = [...document.querySelectorAll(".wide")].filter((table) => !table.closest("details"));
return [tables.map((table) => table.classList.contains("scrolls")),
  tables.map((table) => table.scrollWidth > table.clientWidth)];
""")
    assert says_so == scrolls
    assert scrolls[0] or width > 380
    ink, size, widest = browser.execute_script("""
const text = document.querySelector("#energy-slowdown svg text");
const figures = [...document.querySelectorAll(".figure svg")];
return [getComputedStyle(text).fill, text.getBoundingClientRect().height,
  Math.max(...figures.map((figure) => figure.getBoundingClientRect().right))];
""")
    assert ink == ("rgb(232, 232, 232)" if dark else "rgb(27, 27, 27)")
    assert size > 9
    assert widest <= width


def test_the_explore_page_shows_the_result_of_each_change(browser: Any) -> None:
    """A change of the trace also changes the numbers of pages and seeds, and the legend hides marks."""
    settings = Settings(policies=("bsd",), pages="2", seeds="1")
    server, address = open_server(Simulator(compare_arguments, settings), 0)
    with server:
        threading.Thread(target=server.serve_forever).start()
        browser.get_log("browser")
        browser.get(address)
        assert "2 pages of ucb" in title_of(browser)
        assert len(browser.find_elements("css selector", "#timelines svg")) == 3
        marks = len(browser.find_elements("css selector", "#plane > svg title"))
        browser.find_element("css selector", "#plane button").click()
        assert len(browser.find_elements("css selector", "#plane > svg title")) == marks + 1
        browser.find_element("css selector", "#trace option[value=door]").click()
        assert title_of(browser).startswith("door, means over seeds 1 to 5")
        assert "Power against latency" in browser.find_element("tag name", "body").text
        browser.execute_script("byId('dtim').options[0].value = 'x'; show()")
        assert "must be one of" in title_of(browser)
        assert browser.get_log("browser") == []
        server.shutdown()


def title_of(browser: Any) -> str:
    """Return the title of the result after the running simulation."""
    while (text := browser.find_element("id", "title").text) in ("", "simulating ..."):
        time.sleep(0.02)
    return str(text)
