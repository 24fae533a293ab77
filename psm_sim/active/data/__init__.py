"""Data for the studies of learners: made, enumerated, shipped, or read from an optional package."""
