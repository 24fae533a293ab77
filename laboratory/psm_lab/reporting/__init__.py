"""Reports and figures of the studies of published claims."""
