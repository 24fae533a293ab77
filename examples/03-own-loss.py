"""Own loss: what LPSM weighs against each other, as a class and as a formula.

LPSM learns the polling time with the least loss. A loss says what each candidate polling time would
have cost in the doze that is just over, in nats. The built-in losses count every byte that waits;
in this one a wait costs the same for one frame as for many, since the user of a small page waits
too. The larger gamma is, the sooner LPSM polls again after traffic: it hears more beacons, and
pages are faster.

From the command line: python -m psm_sim --policy lpsm --loss examples/03-own-loss.py:AnyTraffic:gamma=0.01
Run it:                python examples/03-own-loss.py
Write its output anew: python examples/03-own-loss.py > examples/03-own-loss.txt
"""

import numpy as np
import numpy.typing as npt

import psm_sim
from psm_sim.losses import Loss, Poll
from psm_sim.policies.lpsm import Lpsm


class AnyTraffic(Loss):
    """A wait costs gamma for each ms if anything was held; a poll costs 1/log of the polling time."""

    name = "any-traffic"

    def __init__(self, gamma: float = 0.01) -> None:
        self.gamma = gamma

    def __call__(self, poll: Poll, times_ms: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the loss of each candidate polling time, shape (n,) to (n,)."""
        wait = self.gamma * times_ms if poll.buffered_frames else 0.0
        return wait + 1 / np.log(times_ms)

    def idle(self, times_ms: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the losses if nothing was held. Optional: LPSM then learns many empty dozes at once."""
        return np.asarray(1 / np.log(times_ms))


def main() -> None:
    """Check the loss, then let LPSM learn with it, with a formula, and with a built-in loss."""
    print("the loss passes every check:", psm_sim.check(AnyTraffic).ok)

    losses: dict[str, str | Loss] = {
        "any-traffic, gamma 0.01": AnyTraffic(),
        "any-traffic, gamma 0.001": AnyTraffic(gamma=0.001),
        "a formula": "1e-4 * I * Ti + 1/log(Ti)",  # I: bytes held, Ti: candidate polling times in ms
        "inverse-log, built in": "inverse-log",
    }
    table = psm_sim.compare([Lpsm(loss=loss) for loss in losses.values()], pages=50, baselines=False).frame
    print(f"{'loss':<26}{'J per page':>10}{'beacons':>9}{'slowdown':>10}")
    for name, row in zip(losses, table.to_dict("records"), strict=True):
        measures = row["energy_per_page_j"], row["beacons_per_page"], row["slowdown.mean"]
        print("{:<26}{:>10.3f}{:>9.1f}{:>10.3f}".format(name, *measures))


if __name__ == "__main__":
    main()
