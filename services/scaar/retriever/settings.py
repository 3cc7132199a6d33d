"""The retriever's settings, from ``SCAAR_RETRIEVER_*``."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from scaar.runtime.settings import ServiceSettings, settings_of


class RetrieverSettings(ServiceSettings):
    """Which engine finds passages, and where its indexes are."""

    model_config = settings_of("retriever")

    engine: Literal["bm25s"] = "bm25s"
    """``bm25s``: BM25 with Lucene's scoring, indexes as files, memory-mapped."""

    indexes: Path | None = None
    """The folder of the indexes, one folder each. Unset: whoever opens the retriever says."""

    k1: float = Field(default=0.9, ge=0, le=10)
    """BM25's saturation of term frequency, for indexes built from now on."""

    b: float = Field(default=0.4, ge=0, le=1)
    """BM25's normalisation by length, for indexes built from now on."""

    preload: tuple[str, ...] = ()
    """Indexes opened and checked at the start, so that a damaged one is found there."""

    checksums: bool = True
    """Whether opening an index reads its files whole and compares checksums. Without, sizes and
    counts are compared: for indexes of many gigabytes on storage that is trusted. The service opens
    every index at its start; ``scaar doctor`` compares checksums either way."""

    threads: int = Field(default=4, ge=1, le=64)
    """How many requests are worked on at once; further ones wait. One more thread builds
    indexes."""

    max_concurrent: int = Field(default=64, ge=1, le=10_000)
    """Requests under way and waiting at a time; one more is refused as overload."""

    open_indexes: int = Field(default=16, ge=1)
    """How many indexes are held open; the one unused for longest is closed for another."""
