"""Terminal output: tables, lists, progress."""
