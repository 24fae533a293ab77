"""Study of production policies and published policies on several chips and kinds of traffic."""
