"""What a polling time costs, in nats."""
