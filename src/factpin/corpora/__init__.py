"""Work on annotated corpora: convert, predict, check, evaluate, tune, rename."""
