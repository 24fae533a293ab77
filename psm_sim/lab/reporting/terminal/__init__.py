"""Terminal tables of the studies."""
