"""Sweeps: one task per policy and scenario of a grid, kept in a store, run on cores or on a cluster."""
