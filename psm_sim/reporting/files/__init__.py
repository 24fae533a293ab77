"""JSON and CSV files, and the result folder of a run."""
