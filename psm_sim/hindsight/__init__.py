"""Offline optimum: the cheapest sleep schedule for known traffic, and the cost of each policy."""
