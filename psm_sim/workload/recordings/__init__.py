"""Readers of UCB Home IP traces, HAR files, BU-Web-Client logs and packet captures."""
