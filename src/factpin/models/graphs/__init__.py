"""Write the graph of a model for onnxruntime: record it with torch, take the weights out, compare the runtimes."""
