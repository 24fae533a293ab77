"""The schedule of polls that hindsight would have chosen, and what a policy costs beside it."""
