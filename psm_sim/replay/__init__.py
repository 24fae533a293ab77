"""Replay: a learner polls network activity, client by client, without a simulator (thesis, section 2.5.4)."""
