"""Hindsight: the best schedule of polls when everything to come is known, and each policy beside it."""
