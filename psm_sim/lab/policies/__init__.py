"""Policies of the lab: learners that ask for labels, on the radio."""
