"""What goes wrong in ways a user can mend."""

from __future__ import annotations


class InputError(ValueError):
    """Something the user gave cannot be used.

    The message is one sentence: what is wrong, the value given, what is expected and what to do.
    The command line prints it on standard error and ends with exit status 2.
    """


class PluginError(InputError):
    """A user's own policy or loss cannot be loaded, or returned something unusable."""
