"""Figures of the main job: one comparison of policies."""
