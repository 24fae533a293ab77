"""Hindsight: the best schedule of polls once everything is known, and a policy's cost beside it."""
