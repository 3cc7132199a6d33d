"""Names of a cross-encoder's inputs and output, in ONNX files and in Triton."""

from scaar.encoders.tensor_names import INPUTS

__all__ = ["INPUTS", "OUTPUT"]

OUTPUT = "logits"
"""Name of the output, one number per pair."""
