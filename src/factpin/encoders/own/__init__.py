"""A Transformer of our own: the batches it reads, its parts, and itself behind the interface of transformers."""
