"""Contract checks of the lab's components."""
