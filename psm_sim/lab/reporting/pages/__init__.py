"""Pages for readers: reports in Markdown."""
