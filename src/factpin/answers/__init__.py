"""From a question and a store to an answer with citations, or to an abstention."""
