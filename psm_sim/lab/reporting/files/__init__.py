"""Files of studies."""
