"""Sweeps over grids of policies and scenarios, run by local processes or a Dask cluster."""
