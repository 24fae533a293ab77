"""Pages: where they come from."""
