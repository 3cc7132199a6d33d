"""The generator's settings, from ``SCAAR_GENERATOR_*``."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from scaar.runtime.settings import ServiceSettings, settings_of


class GeneratorSettings(ServiceSettings):
    """Which engine runs which model, and how much of the machine it may take."""

    model_config = settings_of("generator")

    engine: Literal["onnx"] = "onnx"
    """``onnx``: a decoder exported with its key-value cache, in ONNX Runtime on the CPU."""

    model: Path | None = None
    """The model's checkpoint folder."""

    threads: int = Field(default=1, ge=1, le=256)
    """Threads for the arithmetic of one step. A small model is fastest with 1, a large one with
    as many as there are cores."""

    workers: int = Field(default=2, ge=1, le=256)
    """Steps of different generations that are computed at the same time."""

    max_concurrent: int = Field(default=32, ge=1, le=10_000)
    """Generations under way at a time; one more is refused as overload."""

    prefix_cache_mb: int = Field(default=64, ge=0, le=1_000_000)
    """Megabytes for what was read before, so that a text that begins like an earlier one is read
    from where they differ; 0 reads every text whole. What is written is the same either way."""

    pace_ms: float = Field(default=0.0, ge=0, le=60_000, allow_inf_nan=False)
    """The least time from one token of a generation to the next, in milliseconds, to stand for the
    speed of a larger model; 0 is as fast as the engine can."""
