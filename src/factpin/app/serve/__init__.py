"""The server behind `factpin serve`: HTTP on top of the same functions that the other commands call. Needs no torch."""
