"""HTML reports with interactive figures, each a single file that opens offline."""
