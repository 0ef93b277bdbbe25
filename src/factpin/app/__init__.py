"""The doors: they parse, call one function of pipelines or training, and show what came back."""
