"""Medium access of 802.11 (DCF): channel, backoff, acknowledgements, PS-Polls and null data frames."""
