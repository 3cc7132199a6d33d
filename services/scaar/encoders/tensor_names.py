"""What an encoder's inputs are called, in ONNX files and in Triton."""

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
"""All that one may read; the last is not for every model."""

OUTPUTS = ("last_hidden_state", "token_embeddings")
"""What the tokens' vectors are called, in exports of a model and of a sentence encoder."""
