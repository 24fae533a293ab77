"""Data sets for the active learners: generated, enumerated, or bundled with source and licence."""
