"""A task of one's own, as docs/architecture.md says to write one: names, of whatever they are names."""
