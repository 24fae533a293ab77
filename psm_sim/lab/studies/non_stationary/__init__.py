"""Study of traffic that changes its kind: Learn-alpha and its rivals."""
