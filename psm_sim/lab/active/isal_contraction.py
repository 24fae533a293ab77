"""Contraction of the boundary region of one-dimensional ISAL, and its number of draws ([003] 5.2.1)."""

from __future__ import annotations

import math

from psm_sim.common.errors import InputError


def isal_contraction(s: float) -> float:
    """Return alpha(s), an upper bound of the mean shrink factor of the boundary region per draw.

    It applies to draws from N(middle, (s width)^2) and any labels that leave a region ([003] Lemma 3).

    Parameters
    ----------
    s : float
        Standard deviation of a draw as a share of the region's width, above 0.
    """
    return off_centre_contraction(s, 0.0)


def off_centre_contraction(s: float, mu: float) -> float:
    """Return the shrink factor for draws around a point off the middle ([003] (5.52), corrected).

    [003] prints sigma^2/sqrt(2 pi) for the first factor; the correct factor is sigma/sqrt(2 pi).

    Parameters
    ----------
    s : float
        Standard deviation of a draw as a share of the region's width, above 0.
    mu : float
        Distance of the centre of the draws from the middle, in the same unit.
    """
    if not s > 0:
        raise InputError(f"s must be > 0, got {s}.")
    gauss = [math.exp(-(z**2) / (2 * s**2)) for z in (mu, 0.5 - mu, 0.5 + mu)]
    return (
        1
        + s / math.sqrt(2 * math.pi) * (2 * gauss[0] - gauss[1] - gauss[2])
        + _phi((0.5 - mu) / s) * (mu - 0.5)
        + _phi((-0.5 - mu) / s) * (mu + 0.5)
        - 2 * mu * _phi(-mu / s)
    )


def isal_draws(s: float, width: float) -> float:
    """Return the number of draws until the mean relative width of the region is at most *width*.

    Source: [003] Theorem 2, corrected. n draws after the first region give alpha^n.

    Parameters
    ----------
    s : float
        Standard deviation of a draw as a share of the region's width, above 0.
    width : float
        Width relative to the first region, between 0 and 1.
    """
    if not 0 < width <= 1:
        raise InputError(f"width must be > 0 and <= 1, got {width}.")
    return math.log(width) / math.log(isal_contraction(s))


def _phi(z: float) -> float:
    return math.erfc(-z / math.sqrt(2)) / 2
