"""Figures of a comparison of policies."""
