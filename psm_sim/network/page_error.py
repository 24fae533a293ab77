"""Page error: a page cannot be loaded, said in one sentence."""

from __future__ import annotations

from psm_sim.errors import InputError


class PageError(InputError):
    """Page error: it cannot be loaded, and the run ends.

    Parameters
    ----------
    page
        Its number, counted from 1.
    what
        What happened, and what to change, as parts of a sentence.
    dropped_frames
        Frames that the access point has dropped so far.
    policy
        The policy as the user named it.
    """

    def __init__(self, page: int, what: tuple[str, str], dropped_frames: int, policy: str) -> None:
        super().__init__(page, what, dropped_frames, policy)
        self.page, self.what, self.dropped_frames, self.policy = page, what, dropped_frames, policy

    def __str__(self) -> str:
        """Return the sentence."""
        happened, advice = self.what
        return (
            f"Page {self.page} under {self.policy} cannot be loaded: {happened}, and the access point has"
            f" dropped {self.dropped_frames} frames so far; {advice}."
        )

    def under(self, policy: str) -> PageError:
        """Return the same error, with the policy as the user named it."""
        return PageError(self.page, self.what, self.dropped_frames, policy)
