"""Benchmarks of a page, a poll, a learning round and a start, relative to baseline loops."""
