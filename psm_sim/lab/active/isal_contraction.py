"""Contraction of the boundary region of ISAL in one dimension, and the draws it takes ([003] 5.2.1)."""

from __future__ import annotations

import math

from psm_sim.errors import InputError


def isal_contraction(s: float) -> float:
    """Return alpha(s): the boundary region shrinks in the mean at least by this factor per draw.

    For draws from N(middle, (s width)^2) and any labels that leave a region; [003] Lemma 3.

    Parameters
    ----------
    s : float
        Standard deviation of a draw, as a share of the region's width, above 0.
    """
    return off_centre_contraction(s, 0.0)


def off_centre_contraction(s: float, mu: float) -> float:
    """Return the same factor for draws around a point off the middle of the region ([003] (5.52), corrected).

    The text prints sigma^2/sqrt(2 pi) for the first factor; it is sigma/sqrt(2 pi).

    Parameters
    ----------
    s : float
        Standard deviation of a draw, as a share of the region's width, above 0.
    mu : float
        Distance of the centre of the draws from the middle, in the same unit.
    """
    if not s > 0:
        raise InputError(f"s is {s}; expected a number above 0.")
    bell = [math.exp(-(z**2) / (2 * s**2)) for z in (mu, 0.5 - mu, 0.5 + mu)]
    return (
        1
        + s / math.sqrt(2 * math.pi) * (2 * bell[0] - bell[1] - bell[2])
        + _phi((0.5 - mu) / s) * (mu - 0.5)
        + _phi((-0.5 - mu) / s) * (mu + 0.5)
        - 2 * mu * _phi(-mu / s)
    )


def isal_draws(s: float, width: float) -> float:
    """Return the draws after which the mean width of the region is at most *width* times the first.

    [003] Theorem 2, corrected: n draws after the first region give alpha^n.

    Parameters
    ----------
    s : float
        Standard deviation of a draw, as a share of the region's width, above 0.
    width : float
        Between 0 and 1.
    """
    if not 0 < width <= 1:
        raise InputError(f"the width is {width}; expected a share above 0 and of at most 1.")
    return math.log(width) / math.log(isal_contraction(s))


def _phi(z: float) -> float:
    return math.erfc(-z / math.sqrt(2)) / 2
