"""Commands of ``python -m psm_lab``."""
