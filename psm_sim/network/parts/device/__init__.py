"""Features of real devices, all disabled by default."""
