"""What a cross-encoder's inputs and output are called, in ONNX files and in Triton."""

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
"""All that one may read; the last is not for every model."""

OUTPUT = "logits"
"""What it gives: one number for a pair."""
