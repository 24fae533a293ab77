"""Reporting: tables on the terminal, files for programs, figures, and pages for readers."""
