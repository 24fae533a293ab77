"""Markdown pages of reports."""
