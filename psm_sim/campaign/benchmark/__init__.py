"""Benchmark of power-save policies: fixed cases and seeds, costs, ranking, and result files."""
