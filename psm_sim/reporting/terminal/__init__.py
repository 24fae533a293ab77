"""Tables, lists and progress bars for the terminal."""
