"""Studies of the online active learners, one module each."""
