"""Error that ends a run because a page cannot be loaded."""

from __future__ import annotations

from psm_sim.common.errors import InputError


class PageError(InputError):
    """A page cannot be loaded, and the run ends.

    Parameters
    ----------
    page
        Number of the page, from 1.
    cause : tuple of str
        The reason, and the advice to the user.
    dropped_frames
        Number of frames that the access point has dropped so far.
    policy
        Name of the policy.
    """

    def __init__(self, page: int, cause: tuple[str, str], dropped_frames: int, policy: str) -> None:
        super().__init__(page, cause, dropped_frames, policy)
        self.page, self.cause, self.dropped_frames, self.policy = page, cause, dropped_frames, policy

    def __str__(self) -> str:
        """Return the message."""
        reason, advice = self.cause
        return (
            f"Page {self.page} under {self.policy} cannot be loaded: {reason} (frames dropped by the access"
            f" point: {self.dropped_frames}); {advice}."
        )

    def under(self, policy: str) -> PageError:
        """Return the same error with another policy name, e.g. the spec that the user wrote."""
        return PageError(self.page, self.cause, self.dropped_frames, policy)
