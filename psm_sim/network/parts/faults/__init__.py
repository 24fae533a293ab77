"""Fault injection: frame loss, restarts, stalls and failed pages. It is built only if enabled."""
