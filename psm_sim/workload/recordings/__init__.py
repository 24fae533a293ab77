"""Recorded browsing: UCB Home IP, HAR and BU-Web-Client files, read into columns of objects and pages."""
