"""The lab's trained models, as they ship: a checkpoint folder each, with its training report."""

from pathlib import Path

LAB_LM = "lab-lm"
LAB_LM_B = "lab-lm-b"
LAB_LM_CONFIDENT = "lab-lm-confident"
LAB_CROSS_ENCODER = "lab-cross-encoder"

LANGUAGE_MODELS = (LAB_LM, LAB_LM_B, LAB_LM_CONFIDENT)
"""The same shape from two seeds; the last is the second, surer than it has reason to be."""


def model_folder(name: str) -> Path:
    """The checkpoint folder of a lab model."""
    return Path(__file__).parent / name
