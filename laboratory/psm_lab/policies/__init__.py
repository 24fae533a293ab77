"""Sleep policies of the lab that use active learners."""
