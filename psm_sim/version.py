"""Version of the program: it stands in every result, and in the key of every task."""

__version__ = "0.1.0"
