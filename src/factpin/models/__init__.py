"""A model as a thing: encoder and head, settings, folder, card; what it reads and finds."""
