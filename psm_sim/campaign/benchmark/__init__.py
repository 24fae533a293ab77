"""Benchmark of power-save policies: fixed cells and seeds, costs, ranking, and result files."""
