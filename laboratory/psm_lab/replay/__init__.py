"""Replay of network activity, polled by a learner without a simulator (thesis, section 2.5.4)."""
