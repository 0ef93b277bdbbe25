"""Models without torch: a graph for onnxruntime, fed with the weights of the model folder; how it is written."""
