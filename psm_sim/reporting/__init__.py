"""What people see: tables, JSON, CSV, files."""
