"""Promise of every input: a result, or one sentence that says what is wrong; nothing else."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from functools import partial
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from psm_sim.common.errors import InputError
from psm_sim.common.formatting import one_line_message

CASES = int(os.environ.get("PSM_SIM_FUZZ", "4000"))
"""Cases of all kinds together."""

TWINS = 9
"""Damaged copies that are tried beside each document that a strategy makes."""

_SNIPPETS = (
    *(b"\0", b"\xff", b"\xef\xbb\xbf", b"\x1b[2J", b"\x1f\x8b", "\u202e".encode()),
    *(b"9" * 40, b"1e999", b"nan", b"null"),
    *(bytes([sign]) for sign in b"\n\r\"'[]{}-,=:(#\\"),
)


def keeps_promise(use: Callable[[], Any]) -> None:
    """Use an input; fail unless it gives a result or an InputError of one sentence."""
    try:
        use()
    except InputError as error:
        words = one_line_message(str(error))
        assert len(words) > 10, words
        assert words.isprintable(), words


def damaged(data: bytes, seed: int) -> bytes:
    """Return *data* with one to three pieces lost, doubled, changed or put in."""
    chance = random.Random(seed)  # noqa: S311 (repeatable, not secret)
    for _ in range(chance.randint(1, 3)):
        at, length = chance.randint(0, len(data)), chance.choice((1, 1, 2, 8, 60))
        piece = data[at : at + length]
        put = chance.choice(
            (b"", piece * 2, piece[::-1], chance.randbytes(len(piece)), chance.choice(_SNIPPETS))
        )
        data = data[:at] + put + data[at + length :]
    return data


def fuzz(share: float, documents: st.SearchStrategy[bytes]) -> Callable[..., Any]:
    """Return a decorator of a test of (place, data), called with each document and its damaged twins.

    Parameters
    ----------
    share
        The part of :data:`CASES` that is of this kind of input.
    documents
        What is tried.
    """
    examples = max(1, round(CASES * share / (1 + TWINS)))

    def decorate(use: Callable[[Any, bytes], Any]) -> Any:
        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        @given(data=documents, seed=st.integers(0, 2**32))
        def test(place: Any, data: bytes, seed: int) -> None:
            keeps_promise(partial(use, place, data))
            for twin in range(TWINS):
                keeps_promise(partial(use, place, damaged(data, seed + twin)))

        test.__doc__ = use.__doc__
        test.__name__ = use.__name__
        return test

    return decorate
