"""What is written for readers: reports in Markdown."""
