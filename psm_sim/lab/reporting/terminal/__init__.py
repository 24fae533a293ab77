"""Tables of studies on a terminal."""
