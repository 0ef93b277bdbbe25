"""Results for people: tables, coloured text, summary lines."""
