"""The lab's models as ordinary checkpoints: Hugging Face layout, and ONNX beside it."""

from scaar.lab.export.checkpoint import export_cross_encoder, export_language_model

__all__ = ["export_cross_encoder", "export_language_model"]
