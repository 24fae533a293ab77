"""Helpers of the power-save policies: inference from frames, plans of dozes, and saved learners."""
