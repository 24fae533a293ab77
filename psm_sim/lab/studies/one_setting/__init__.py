"""Search for a setting that agrees with the published numbers of both LPSM and Bounded Slowdown."""
