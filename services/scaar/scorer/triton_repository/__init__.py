"""A cross-encoder as a model repository of Triton's: exported, and built into a TensorRT engine."""
