"""Speed: what a page, a poll, a round of learning and a start cost, beside a loop in the same process."""
