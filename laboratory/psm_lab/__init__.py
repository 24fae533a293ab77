"""Studies of published claims about Wi-Fi power saving and about active learners."""
