"""The main job, from raw text to facts: inputs, routing by language, combining models, folder runs."""
