"""What people look at: tables, highlighted text."""
