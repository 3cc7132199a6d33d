"""The scorer's settings, from ``SCAAR_SCORER_*``."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from scaar.runtime.settings import ServiceSettings, settings_of


class ScorerSettings(ServiceSettings):
    """Which engine runs which cross-encoder, and how much of the machine it may take."""

    model_config = settings_of("scorer")

    engine: Literal["onnx"] = "onnx"
    """``onnx``: an exported cross-encoder with one logit, in ONNX Runtime on the CPU."""

    model: Path | None = None
    """The model's checkpoint folder."""

    threads: int = Field(default=2, ge=1, le=256)
    """Threads for the arithmetic of one batch."""

    workers: int = Field(default=1, ge=1, le=256)
    """Batches of different calls that are computed at the same time."""

    max_pairs: int = Field(default=32, ge=1, le=4096)
    """The most pairs of texts in one batch. More take more memory: for a model of h heads, 4 h
    times the square of the longest pair's tokens in bytes for each pair."""

    max_concurrent: int = Field(default=64, ge=1, le=10_000)
    """Calls under way at a time; one more is refused as overload."""
