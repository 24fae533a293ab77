"""Terminal tables, result files, figures and HTML reports."""
