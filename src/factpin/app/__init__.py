"""The doors: they parse, call one function of a room below, and show the result."""
