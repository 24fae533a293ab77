"""Study of Learn-alpha and other learners on non-stationary traffic."""
