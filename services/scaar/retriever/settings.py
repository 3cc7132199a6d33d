"""The retriever's settings, from ``SCAAR_RETRIEVER_*``."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from scaar.retriever.build_limits import BuildLimits
from scaar.runtime.settings import ServiceSettings, settings_of


class RetrieverSettings(ServiceSettings):
    """Which engine finds passages, and where its indexes are."""

    model_config = settings_of("retriever")

    engine: Literal["bm25s", "opensearch"] = "bm25s"
    """``bm25s``: indexes as files, memory-mapped: BM25 with Lucene's scoring, and vectors by faiss.
    ``opensearch``: the indexes of an OpenSearch server."""

    indexes: Path | None = None
    """The folder of the indexes of bm25s, one folder each. Unset: whoever opens the retriever
    says."""

    k1: float = Field(default=0.9, ge=0, le=10)
    """BM25's saturation of term frequency, for indexes built from now on."""

    b: float = Field(default=0.4, ge=0, le=1)
    """BM25's normalisation by length, for indexes built from now on."""

    encoder: Path | None = None
    """The folder of the sentence encoder, in ONNX, of indexes of vectors: for those built from now
    on, and for queries of those that it made. Unset: indexes of words alone can be used."""

    encoder_threads: int = Field(default=1, ge=1, le=256)
    """Threads in which one batch of texts is encoded."""

    build_max_passages: int = Field(default=BuildLimits().passages, ge=1)
    """Maximum number of passages in one build or upload. A build with more is refused, naming this
    limit. Wikipedia in passages of 100 words has 21 million."""

    build_max_gb: float = Field(default=BuildLimits().gigabytes, gt=0)
    """Maximum size of the passages of one build or upload, in gigabytes after unpacking. A build
    with more is refused, naming this limit. Wikipedia in passages of 100 words has 14 GB. A file
    may have a million blank lines besides."""

    preload: tuple[str, ...] = ()
    """Indexes that are opened, with their checksums compared, before the retriever serves. One that
    is damaged ends the start, which takes as long as reading them does."""

    checksums: bool = True
    """Whether the files of an index are read whole and their checksums compared when it is opened.
    The service compares sizes before it serves, and checksums in the background: an index that is
    found damaged is refused from then on, logged, and NOT_SERVING in the health of that index.
    Without, only sizes and counts are compared: for storage that is trusted. ``scaar doctor``
    compares checksums either way. bm25s only."""

    threads: int = Field(default=4, ge=1, le=64)
    """How many requests are worked on at once; further ones wait. One more thread builds
    indexes. bm25s only."""

    max_concurrent: int = Field(default=64, ge=1, le=10_000)
    """Requests under way and waiting at a time; one more is refused as overload."""

    open_indexes: int = Field(default=16, ge=1)
    """How many indexes are held open; the one unused for longest is closed for another.
    bm25s only."""

    opensearch_urls: tuple[str, ...] = ()
    """The OpenSearch server, ``["https://host:9200"]``; of several, another is asked when one
    cannot be reached."""

    opensearch_user: str | None = None
    """Whom OpenSearch knows; unset for a server without security."""

    opensearch_password: SecretStr | None = None
    """The user's password."""

    opensearch_password_file: Path | None = None
    """A file that holds the password alone, instead of it."""

    opensearch_ca_file: Path | None = None
    """The certificates, in PEM, that the server's must be signed by. Unset: the system's."""

    opensearch_timeout_s: float = Field(default=10.0, gt=0)
    """The longest that a request to OpenSearch may take, in seconds; a call never outlives its
    deadline. What builds indexes has longer limits of its own."""

    opensearch_prefix: str = Field(default="scaar-", pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")
    """What the names of the aliases and indexes on OpenSearch begin with."""

    opensearch_connections: int = Field(default=16, ge=1, le=1_000)
    """Connections to each server at most; further requests wait for one."""

    opensearch_shards: int = Field(default=1, ge=1, le=1_024)
    """Primary shards of indexes built from now on: one for each 10 to 30 GB. With more than one,
    every search asks all of them for their terms first, so that scores stay the same."""

    opensearch_replicas: int = Field(default=1, ge=0, le=100)
    """Copies of each shard, made when an index is whole. A single node can hold none."""

    opensearch_bulk_mb: float = Field(default=8.0, gt=0, le=50)
    """Megabytes of passages in one request while an index is loaded; 5 to 15 are best."""

    opensearch_bulk_workers: int = Field(default=4, ge=1, le=64)
    """Such requests under way at a time. One that the server has no room for is tried again, more
    slowly each time."""

    @property
    def build_limits(self) -> BuildLimits:
        """How much one build may read."""
        return BuildLimits(self.build_max_passages, self.build_max_gb)
