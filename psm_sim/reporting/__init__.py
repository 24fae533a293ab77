"""What people and programs are shown: tables, files, figures, pages."""
