"""The document of the interactive page, without a browser."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from bokeh.core.serialization import Serialized
from bokeh.document import Document
from bokeh.events import ConnectionLost
from bokeh.models.widgets.markups import Div
from PIL import Image

from psm_sim.commands.explore import compare_arguments
from psm_sim.common.errors import InputError
from psm_sim.common.progress import no_progress
from psm_sim.reporting.explore.page import ExploreView, Simulator
from psm_sim.reporting.explore.settings import PARAMETERS, Settings

QUICK = Settings(policies=("anticipate",), pages="2", seeds="1")


def opened(simulate: Callable[..., Any] = compare_arguments, settings: Settings = QUICK) -> Document:
    """Return the document after its first simulation."""
    document = Document()
    ExploreView(document, Simulator(simulate), settings)
    run_callbacks(document)
    return document


def run_callbacks(document: Document) -> None:
    """Wait for the running simulation, and run what it adds to the event loop of a server."""
    while "simulating" in text_of(document, "status"):
        callbacks: list[Any] = document.session_callbacks
        for callback_ in callbacks:
            document.remove_next_tick_callback(callback_)
            callback_.callback()
        time.sleep(0.01)


def text_of(document: Document, name: str) -> str:
    """Return the text of an element of the page."""
    return str(document.get_model_by_name(name).text)


def value_of(document: Document, name: str) -> str:
    """Return the value of a control."""
    return str(document.get_model_by_name(name).value)


def rows_of(document: Document) -> dict[str, dict[str, list[Any]]]:
    """Return the data of the rows of the timeline."""
    (figure,) = document.get_model_by_name("timeline").children
    return {renderer.data_source.tags[0]: renderer.data_source.data for renderer in figure.renderers}


def test_the_page_shows_conclusion_and_command_and_figures_and_choices() -> None:
    document = opened()
    assert "seed 1" in text_of(document, "status")
    assert "anticipate:price=0.25" in text_of(document, "conclusion")
    assert "--policy anticipate:price=0.25 --trace ucb" in text_of(document, "command")
    assert "<td>psm *</td>" in text_of(document, "numbers")
    assert "not a recording" in text_of(document, "numbers")
    (figure,) = document.get_model_by_name("plane").children
    assert "slowdown" in figure.xaxis[0].axis_label
    assert [text for _, text in document.get_model_by_name("timeline_policy").options] == [
        "always-on",
        "psm",
        "anticipate:price=0.25",
    ]
    assert document.get_model_by_name("timeline_page").options == ["1", "2"]


def test_the_timeline_shows_one_policy_and_zooms_to_one_page() -> None:
    """The axis is the same for all policies, and begins at the request."""
    document = opened()
    document.get_model_by_name("timeline_policy").value = "0"
    assert rows_of(document)["beacon received"]["time"] == []
    document.get_model_by_name("timeline_policy").value = "1"
    rows = rows_of(document)
    assert rows["beacon received"]["time"]
    document.get_model_by_name("timeline_page").value = "2"
    (figure,) = document.get_model_by_name("timeline").children
    rows = rows_of(document)
    assert figure.x_range.start < rows["page"]["left"][1] == 0 < rows["page"]["right"][1] < figure.x_range.end
    document.get_model_by_name("timeline_policy").value = "2"
    (other,) = document.get_model_by_name("timeline").children
    assert (other.x_range.start, other.x_range.end) == (figure.x_range.start, figure.x_range.end)


def test_selecting_a_trace_sets_the_numbers_of_pages_and_seeds_for_a_fast_simulation() -> None:
    def simulate(arguments, progress):
        shorter = ["ping:stretch_s=60" if word == "ping" else word for word in arguments]
        return compare_arguments(shorter, progress)

    document = opened(simulate)
    document.get_model_by_name("profile").value = "esp32"
    document.get_model_by_name("trace").value = "ping"
    run_callbacks(document)
    assert (value_of(document, "pages"), value_of(document, "seeds")) == ("1", "5")
    (figure,) = document.get_model_by_name("plane").children
    assert "(ms)" in figure.xaxis[0].axis_label
    assert "(mW)" in figure.yaxis[0].axis_label
    (figure,) = document.get_model_by_name("timeline").children
    downlink = rows_of(document)["downlink frame"]["time"]
    assert any(figure.x_range.start < time_s < figure.x_range.end for time_s in downlink)


@pytest.mark.parametrize("error", [InputError("Too <b>much</b>."), ZeroDivisionError("Too <b>much</b>")])
def test_an_error_replaces_the_figures(error: Exception) -> None:
    def fail(arguments, progress):
        if "80" in arguments:
            raise error
        return compare_arguments(arguments, progress)

    document = opened(fail)
    document.get_model_by_name("pages").value = "80"
    run_callbacks(document)
    assert "Too &lt;b&gt;much&lt;/b&gt;." in text_of(document, "status")
    assert text_of(document, "conclusion") == ""
    assert "--pages 80" in text_of(document, "command")
    assert not any(hasattr(child, "renderers") for child in document.get_model_by_name("plane").children)
    document.get_model_by_name("timeline_page").value = "2"
    document.get_model_by_name("pages").value = "2"
    run_callbacks(document)
    assert "anticipate" in text_of(document, "conclusion")


def stop(arguments: Any, progress: Any) -> Any:
    """Simulate nothing, for tests of other functions of the page."""
    raise InputError("Stopped.")


def send(document: Document, name: str, **changes: Any) -> None:
    """Send the message of a browser that has changed properties of a model."""
    model = {"id": document.get_model_by_name(name).id}
    events: Any = [
        {"kind": "ModelChanged", "model": model, "attr": key, "new": new} for key, new in changes.items()
    ]
    document.apply_json_patch(Serialized({"events": events}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("policies", ["evil.py:Evil"]),
        ("policies", "psm"),
        ("trace", "secret.csv"),
        ("trace", ["ucb"]),
        ("round_trip_ms", "abc"),
        ("seed", None),
        ("timeline_policy", "abc"),
    ],
)
def test_a_value_that_a_control_does_not_offer_is_rejected(
    name: str, value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser that also changes the options cannot make the server open or run a file."""
    monkeypatch.chdir(tmp_path)
    Path("evil.py").write_text("raise SystemExit\n")
    Path("secret.csv").write_text("secret\n")
    document = opened(stop)
    before = document.get_model_by_name(name).value
    send(document, name, options=[value], value=value)
    assert " must be one of" in text_of(document, "status")
    assert document.get_model_by_name(name).value == before
    send(document, "policies", value=["psm", "lpsm", "psm"])
    run_callbacks(document)
    assert "--policy psm --policy lpsm --trace ucb" in text_of(document, "command")


def test_a_browser_cannot_add_models_to_the_page(tmp_path: Path) -> None:
    """Bokeh reads the image file that a property of some models names."""
    image = tmp_path / "image.png"
    Image.new("RGB", (1, 1)).save(image)
    document = opened(stop)
    attributes = {"icon": str(image), "description": ""}
    send(document, "status", tags=[{"type": "object", "name": "CustomAction", "attributes": attributes}])
    other = Document()
    other.add_root(Div(text="other"))
    document.replace_with_json(other.to_json())
    assert not document.get_model_by_name("status").tags
    assert "Stopped." in text_of(document, "status")


def test_a_policy_that_exits_is_an_error_and_the_next_simulation_still_runs() -> None:
    def leave(arguments, progress):
        if "80" in arguments:
            sys.exit("left")
        return stop(arguments, progress)

    document = opened(leave)
    document.get_model_by_name("pages").value = "80"
    run_callbacks(document)
    assert "left" in text_of(document, "status")
    document.get_model_by_name("pages").value = "1"
    run_callbacks(document)
    assert "Stopped." in text_of(document, "status")


def test_the_page_shows_the_result_of_the_latest_request() -> None:
    release, requests = threading.Event(), []

    def slow(arguments, progress):
        requests.append(arguments)
        if "40" in arguments:
            release.wait(600)
        return compare_arguments(arguments, progress)

    document = opened(slow)
    for pages in ("40", "5", "10"):
        document.get_model_by_name("pages").value = pages
    release.set()
    run_callbacks(document)
    assert "--pages 10" in text_of(document, "command")
    time.sleep(0.1)
    for callback in document.session_callbacks:
        callback.callback()
    assert "--pages 10" in text_of(document, "command")
    assert not any("5" in arguments for arguments in requests)


def test_closing_a_tab_ends_the_running_and_the_queued_simulations() -> None:
    """The running simulation and the queued ones end."""
    begun, release, ended, requests = threading.Event(), threading.Event(), threading.Event(), []

    def slow(arguments, progress):
        requests.append(arguments)
        begun.set()
        release.wait(600)
        return compare_arguments(arguments, progress)

    threads = threading.active_count()
    simulator = Simulator(slow)
    documents = [Document() for _ in range(5)]
    for seed, document in enumerate(documents):
        ExploreView(document, simulator, replace(QUICK, seed=str(seed)))
    assert begun.wait(600)
    assert threading.active_count() <= threads + 1
    for document in documents:
        document.callbacks.trigger_event(ConnectionLost())
    release.set()
    simulator.submit(ended.set)
    assert ended.wait(600)
    assert len(requests) == 1
    assert not any(document.session_callbacks for document in documents)


def test_a_parameter_control_applies_only_to_policies_that_do_not_set_the_parameter() -> None:
    policies = ("bsd", "bsd:p=2", "lpsm", "lpsm:learner=learn-alpha", "anticipate:delay_ms=50")
    settings = Settings(policies=policies, price="3", bound="0.1", gamma="0.01", switching_rate="0.1")
    assert [text for option, text in pairwise(settings.arguments) if option == "--policy"] == [
        "bsd:p=0.1",
        "bsd:p=2",
        "lpsm:gamma=0.01,alpha=0.1",
        "lpsm:learner=learn-alpha,gamma=0.01",
        "anticipate:delay_ms=50",
    ]
    document = opened(stop, settings)
    disabled = {name: document.get_model_by_name(name).disabled for name in PARAMETERS}
    assert disabled == {"price": True, "bound": False, "gamma": False, "switching_rate": False}


def test_the_page_opens_with_a_conclusion_that_names_a_best_policy() -> None:
    conclusion = compare_arguments(Settings().arguments, no_progress).conclusion()
    assert "least energy" in conclusion
    assert "not significant" not in conclusion
