"""Export of the lab's models as standard checkpoints: Hugging Face files and ONNX."""

from scaar.lab.export.checkpoint import export_cross_encoder, export_language_model

__all__ = ["export_cross_encoder", "export_language_model"]
