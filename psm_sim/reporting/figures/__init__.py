"""Figures: one style for all, their numbers beside them."""
