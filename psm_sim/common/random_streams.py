"""Named random streams derived from one seed."""

from __future__ import annotations

import zlib

import numpy as np


def random_stream(seed: int, name: str, replication: int = 0) -> np.random.Generator:
    """Return the random generator of one component in one replication.

    The same seed, name and replication always give the same numbers, whichever other streams are used.
    All policies of a comparison therefore load the same pages (common random numbers).

    Parameters
    ----------
    seed : int
        Seed of the run, >= 0.
    name : str
        Name of the sampled quantity, such as ``"workload.think_s"``.
    replication : int
        Number of the replication, >= 0. Replications are independent.
    """
    # crc32 instead of hash(), because Python's hash of a string differs between processes.
    key = (zlib.crc32(name.encode()), replication)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy=seed, spawn_key=key)))


def stream_name(name: str, owner: str) -> str:
    """Return the stream name of the component *owner*, or the plain *name* if *owner* is empty."""
    return f"{name} of {owner}" if owner else name
