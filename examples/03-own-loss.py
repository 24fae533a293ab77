"""Write your own loss for LPSM, as a class and as a formula.

LPSM learns the polling time with the lowest loss. After each doze, the loss function returns the
cost in nats that each candidate polling time would have had. The built-in losses charge each byte
that waits. This loss ignores the number of bytes, because the user of a small page waits too.
With a larger gamma, LPSM polls again sooner after traffic: it receives more beacons and loads pages
faster.

On the command line:  python -m psm_sim --policy lpsm --loss examples/03-own-loss.py:AnyTraffic:gamma=0.01
Run:                  python examples/03-own-loss.py
Renew the output:     python examples/03-own-loss.py > examples/03-own-loss.txt
"""

import numpy as np
import numpy.typing as npt

import psm_sim
from psm_sim.losses import Loss, Poll
from psm_sim.policies.lpsm import Lpsm


class AnyTraffic(Loss):
    """Loss gamma * Ti + 1/log(Ti) of a polling time Ti, or 1/log(Ti) if no frame was buffered."""

    name = "any-traffic"

    def __init__(self, gamma: float = 0.01) -> None:
        self.gamma = gamma

    def __call__(self, poll: Poll, times_ms: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the loss of each candidate polling time, shape (n,)."""
        wait = self.gamma * times_ms if poll.buffered_frames else 0.0
        return wait + 1 / np.log(times_ms)

    def idle(self, times_ms: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the losses of a doze without buffered frames. Optional, for speed.

        LPSM then learns from many such dozes at once.
        """
        return np.asarray(1 / np.log(times_ms))


def main() -> None:
    """Check the loss, then run LPSM with it, with a formula, and with a built-in loss."""
    print(psm_sim.check(AnyTraffic).summary)

    losses: dict[str, str | Loss] = {
        "any-traffic, gamma 0.01": AnyTraffic(),
        "any-traffic, gamma 0.001": AnyTraffic(gamma=0.001),
        "a formula": "1e-4 * I * Ti + 1/log(Ti)",  # I: buffered bytes, Ti: candidate polling times in ms
        "inverse-log, built in": "inverse-log",
    }
    table = psm_sim.compare([Lpsm(loss=loss) for loss in losses.values()], pages=50, baselines=False).frame
    print(f"{'loss':<26}{'J per page':>10}{'beacons':>9}{'slowdown':>10}")
    for name, row in zip(losses, table.to_dict("records"), strict=True):
        measures = row["energy_per_page_j"], row["beacons_per_page"], row["slowdown.mean"]
        print("{:<26}{:>10.3f}{:>9.1f}{:>10.3f}".format(name, *measures))


if __name__ == "__main__":
    main()
