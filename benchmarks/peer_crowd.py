"""Late beacons and goodput of saturated stations of 802.11n beside those measured in ns-3.

    python -m benchmarks.peer_crowd [SECONDS [SEEDS]]

``peer_crowd.csv`` has the runs of ns-3.44 that ``peer_crowd_ns3.py`` made. Here each cell is run with each of
SEEDS seeds (2) for SECONDS (24). The columns are the delay of a beacon, the time from its due time to its
end, and the goodput: here, in ns-3, and the difference in per cent.
"""

from __future__ import annotations

import sys

from tests.network.parts.mac.crowd import KEYS, measured, simulate


def main() -> None:
    """Print one row per cell."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 24.0
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    print(*KEYS, "beacon late ms", "beacon ms", "Mbit/s", "runs of ns-3", sep=", ")
    for cell, (theirs, runs) in measured().items():
        ours = [simulate(cell, seed, seconds) for seed in range(1, seeds + 1)]
        means = [sum(values) / seeds for values in zip(*ours, strict=True)]
        pairs = zip(means, theirs, strict=True)
        print(
            *cell,
            *(f"{here:.3f} {there:.3f} {100 * (here / there - 1):+.1f}" for here, there in pairs),
            runs,
            sep=", ",
        )


if __name__ == "__main__":
    main()
