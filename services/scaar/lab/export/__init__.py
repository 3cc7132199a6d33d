"""The lab's models as ordinary checkpoints: Hugging Face layout, and ONNX beside it."""
