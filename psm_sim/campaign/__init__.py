"""Campaigns of many runs: independent tasks that return rows, on any number of workers."""
