"""Lab: the seeds' learners that ask for labels, and the studies of published claims, beside the simulator."""
