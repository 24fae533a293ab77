"""Campaigns of many runs: tasks, each with its own seed, on any number of workers; each gives rows."""
