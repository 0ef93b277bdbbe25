"""Making and adapting encoders: corpora as streams, vocabularies, the learners, the job of the loop."""
