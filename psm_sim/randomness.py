"""Random streams, each with a name, all grown from one seed."""

from __future__ import annotations

import zlib

import numpy as np


def stream(seed: int, name: str, replication: int = 0) -> np.random.Generator:
    """Return the generator of one component of one replication.

    The same seed, name and replication always give the same numbers, whatever else is drawn, so that
    every policy of a comparison sees the same pages (common random numbers).
    """
    key = (zlib.crc32(name.encode()), replication)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy=seed, spawn_key=key)))
