"""Figures in a common style, each with its data as CSV."""
