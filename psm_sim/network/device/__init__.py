"""Device: station and access point as they are, beyond the papers' model; each part is off by default."""
