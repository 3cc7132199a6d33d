"""The lab's trained models, as they ship: a checkpoint folder each, with its training report."""

from pathlib import Path

LAB_LM = "lab-lm"
LAB_CROSS_ENCODER = "lab-cross-encoder"


def model_folder(name: str) -> Path:
    """The checkpoint folder of a lab model."""
    return Path(__file__).parent / name
