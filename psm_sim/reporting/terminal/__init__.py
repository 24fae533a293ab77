"""What the terminal shows: tables, lists, progress."""
