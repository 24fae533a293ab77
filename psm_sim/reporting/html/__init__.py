"""Page of results: one HTML file that opens offline, with figures to hover, toggle, sort and zoom."""
