"""What a cross-encoder's inputs and output are called, in ONNX files and in Triton."""

from scaar.encoders.tensor_names import INPUTS

__all__ = ["INPUTS", "OUTPUT"]

OUTPUT = "logits"
"""What it gives: one number for a pair."""
