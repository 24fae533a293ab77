"""Figures of a replay."""
