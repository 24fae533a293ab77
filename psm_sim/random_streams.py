"""Random streams: each has a name, and all of them grow from one seed."""

from __future__ import annotations

import zlib

import numpy as np


def random_stream(seed: int, name: str, replication: int = 0) -> np.random.Generator:
    """Return the generator of one component of one replication.

    The same seed, name and replication always give the same numbers, also when other streams are drawn
    from or not, so that every policy of a comparison sees the same pages (common random numbers).

    Parameters
    ----------
    seed : int
        The seed of the run, 0 or more.
    name : str
        The component that draws, such as ``"workload.think_s"``.
    replication : int
        The number of the replication, 0 or more; each one is independent of the others.
    """
    # crc32 and not hash(): Python's hash of a text differs from process to process.
    key = (zlib.crc32(name.encode()), replication)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy=seed, spawn_key=key)))


def stream_name(name: str, owner: int) -> str:
    """Return the name of a component's stream where several have one each; the first has the name itself."""
    return f"{name} of {owner}" if owner else name
