"""Data for learners that ask for labels: generated, enumerated, or shipped with source and licence."""
