"""Delays of a page under each polling time, compared with hand-computed ones and with runs."""

from __future__ import annotations

import numpy as np
import pytest

from psm_sim.beacons import Beacons
from psm_sim.losses import Context, Loss
from psm_sim.policies import Frame, Poll
from psm_sim.policies.helpers.page_delays import PageDelays
from psm_sim.policies.lpsm import Lpsm
from psm_sim.simulation import simulate

TIMES_MS = np.array([100.0, 200.0, 300.0, 1200.0])


def useful(flow: int) -> Frame:
    return Frame(flow, 140, 100, False, False)


def page_with_one_reply() -> PageDelays:
    """Return a page with a request at 50 ms, a reply at 130 ms, and its retrieval at the beacon at 400 ms."""
    pages = PageDelays(TIMES_MS, Beacons(0.1))
    assert pages.sent(0.05, useful(0)) is None
    pages.rest(0.051, None)
    pages.rest(0.1, Poll(49.0))
    pages.received(0.401, useful(0))
    return pages


def test_for_each_polling_time_a_reply_waits_until_the_first_wake_up_after_its_arrival():
    """The wake-ups after the beacon at 100 ms are at 200, 300, 400 and 1300 ms."""
    pages = page_with_one_reply()
    pages.rest(0.402, Poll(300.0, 140, 1, ((30.0, 140),)))
    page = pages.sent(2.402, useful(1))
    assert page is not None
    assert page.delays_ms.tolist() == pytest.approx([70.0, 170.0, 270.0, 1170.0])
    assert page.elapsed_ms == pytest.approx(401 - 50 - 270)
    assert page.waiting.slept_ms == pytest.approx(49 + 300)
    assert (page.waiting.buffered_bytes, page.waiting.buffered_frames) == (140, 1)
    assert page.idle_ms == pytest.approx(2000)


def test_the_next_exchange_begins_at_the_beacon_at_which_the_reply_is_retrieved():
    """The next reply arrives 350 ms after the beacon, with wake-ups after 400, 400, 600 and 1200 ms."""
    pages = page_with_one_reply()
    pages.sent(0.402, useful(0))
    pages.rest(0.403, Poll(300.0, 140, 1, ((30.0, 140),)))
    pages.received(1.001, useful(0))
    pages.rest(1.002, Poll(597.0, 140, 1, ((347.0, 140),)))
    page = pages.sent(2.0, useful(1))
    assert page is not None
    assert page.delays_ms.tolist() == pytest.approx([70 + 50.0, 170 + 50.0, 270 + 250.0, 1170 + 850.0])


def test_a_packet_that_interrupts_the_doze_ends_the_waits_of_two_connections():
    """The reply of 750 ms is released at 770 ms, and its wait counts half."""
    pages = page_with_one_reply()
    pages.sent(0.402, useful(0))
    pages.rest(0.403, Poll(300.0, 140, 1, ((30.0, 140),)))
    pages.interrupted(Poll(367.0, 140, 1, ((347.0, 140),)))
    pages.sent(0.77, useful(1))
    pages.received(0.772, useful(0))
    pages.rest(0.773, None)
    pages.received(0.8, Frame(1, 40, 0, False, True))
    pages.rest(0.801, Poll(27.0))
    page = pages.sent(3.0, useful(2))
    assert page is not None
    assert page.delays_ms.tolist() == pytest.approx([80.0, 180.0, 280.0, 1180.0])


def test_a_reply_is_not_delayed_if_no_doze_precedes_it():
    pages = PageDelays(TIMES_MS, Beacons(0.1))
    pages.sent(0.05, useful(0))
    pages.received(0.06, useful(0))
    pages.rest(0.061, None)
    page = pages.sent(1.0, useful(0))
    assert page is not None
    assert not page.delays_ms.any()


class Watched(Loss):
    """Zero loss, which leaves the polling time at the mean of the experts; records each context."""

    name = "watched"
    per = "page"
    seen: list[Context] = []  # noqa: RUF012 (shared by the copies of the loss)

    def __call__(self, poll, times_ms, context=Context()):  # noqa: B008
        self.seen.append(context)
        return 0 * times_ms


def test_the_delays_of_other_polling_times_are_predicted_from_a_single_run():
    """The run has 700 ms, and the tolerance is 15 %.

    Runs with one polling time have experts that round to it.
    """
    policy = Lpsm(loss=Watched())
    Watched.seen.clear()
    run = simulate(policy, pages=30, seed=3)
    contexts = Watched.seen[-29:]  # the last page does not end
    estimates_ms = np.mean(np.array([context.delays_ms for context in contexts]), axis=0)[[1, 3, 8]]
    elapsed_ms = np.mean([context.elapsed_ms for context in contexts])
    assert elapsed_ms == pytest.approx(1000 * run.pages["always_on_time_s"][:-1].mean(), rel=0.35)
    measured_ms = []
    for time_ms in (200, 400, 900):
        pages = simulate(f"lpsm:min_ms={time_ms},max_ms={time_ms + 0.1},step_ms=0.1", pages=30, seed=3).pages
        measured_ms.append(1000 * (pages["page_time_s"] - pages["always_on_time_s"])[:-1].mean())
    assert estimates_ms == pytest.approx(measured_ms, rel=0.15)


class Delays(Loss):
    """Loss of a page: its delay, in units of 100 ms."""

    name = "delays"
    per = "page"

    def __call__(self, poll, times_ms, context=Context()):  # noqa: B008
        return context.delays_ms / 100 + 0 * times_ms


@pytest.mark.parametrize("context", ["none", "outstanding"])
def test_training_on_a_loss_per_page_reduces_the_page_delays(context):
    """The loss has the delay only.

    Polling times fall from 650 to nearly 100 ms while requests are outstanding.
    """
    policy = Lpsm(loss=Delays(), context=context)
    run = simulate(policy, pages=30)
    first = simulate(Lpsm(loss=Watched(), context=context), pages=30)
    assert run.slowdown.mean < 0.6 * first.slowdown.mean


def test_an_invalid_unit_of_rounds_is_an_error():
    class Pages(Delays):
        per = "pages"

    with pytest.raises(Exception, match="Loss delays: per must be 'doze' or 'page', got 'pages'"):
        Lpsm(loss=Pages())
