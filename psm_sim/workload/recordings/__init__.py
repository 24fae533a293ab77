"""Readers of UCB Home IP traces, HAR files and packet captures."""
