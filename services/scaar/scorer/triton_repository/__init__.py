"""Export of a cross-encoder as a Triton model repository, and builds of TensorRT engines."""
