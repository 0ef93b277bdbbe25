"""The shared equations: tensors in, tensors out; no model is called and no argument is written to."""
