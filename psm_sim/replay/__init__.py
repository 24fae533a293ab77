"""A learner polls network activity itself, client by client: no simulator (thesis, section 2.5.4)."""
