"""The lab's trained models, each in a checkpoint folder with its training report."""

from pathlib import Path

LAB_LM = "lab-lm"
LAB_LM_B = "lab-lm-b"
LAB_LM_CONFIDENT = "lab-lm-confident"
LAB_CROSS_ENCODER = "lab-cross-encoder"

LANGUAGE_MODELS = (LAB_LM, LAB_LM_B, LAB_LM_CONFIDENT)
"""Language models of the same shape. The last one is overconfident on purpose."""


def model_folder(name: str) -> Path:
    """Return the checkpoint folder of a lab model."""
    return Path(__file__).parent / name
