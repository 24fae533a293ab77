"""Readers of recorded browsing, for UCB Home IP, HAR and BU-Web-Client files and packet captures."""
