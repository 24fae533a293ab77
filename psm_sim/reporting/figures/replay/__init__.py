"""The figures of a replay."""
