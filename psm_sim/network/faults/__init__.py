"""Faults: lost frames, restarts, stalls, and pages that fail; none of it is made unless it is switched on."""
