"""Names of an encoder's inputs and outputs, in ONNX files and in Triton."""

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
"""Names of all possible inputs. Some models do not have the last one."""

OUTPUTS = ("last_hidden_state", "token_embeddings")
"""Names of the output with token vectors, in exports of a model and of a sentence encoder."""

OUTPUT = "logits"
"""Name of the output of a cross-encoder, one number per pair."""
