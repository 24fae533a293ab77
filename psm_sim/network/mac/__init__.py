"""Medium access of 802.11: one air for both directions, with backoff, acknowledgements and PS-Polls."""
