"""Search for one setting that serves the published numbers of LPSM and of Bounded Slowdown together."""
