"""Fault injection: frame loss, restarts and failed pages. It is built only if enabled."""
