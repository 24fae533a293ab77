"""When the radio sleeps: one module a policy."""
