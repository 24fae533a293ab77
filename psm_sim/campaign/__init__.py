"""Many runs: tasks, each with its own seed, on any number of workers; rows come out."""
