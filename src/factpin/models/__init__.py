"""Models: encoder and head, settings, folder and card; the Extractor that uses them."""
