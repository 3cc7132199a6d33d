"""The retriever's settings, from ``SCAAR_RETRIEVER_*``."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from scaar.retriever.build_limits import BuildLimits
from scaar.runtime.settings import ServiceSettings, settings_of


class RetrieverSettings(ServiceSettings):
    """Which engine searches, where its indexes are, and how many resources it may use."""

    model_config = settings_of("retriever")

    engine: Literal["bm25s", "opensearch"] = "bm25s"
    """Engine that stores and searches indexes. ``bm25s``: memory-mapped files, with BM25 as Lucene
    scores it, and vectors by faiss. ``opensearch``: an OpenSearch server."""

    indexes: Path | None = None
    """Path to the folder that contains the indexes of ``bm25s``, one folder per index. Default:
    ``indexes`` in the folder ``SCAAR_HOME``, which defaults to ``scaar`` in the user's data
    folder."""

    k1: float = Field(default=0.9, ge=0, le=10)
    """BM25 parameter k1, the saturation of the term frequency. Applies to indexes built from now
    on; an index keeps its value."""

    b: float = Field(default=0.4, ge=0, le=1)
    """BM25 parameter b, the normalization by passage length. Applies to indexes built from now on;
    an index keeps its value."""

    encoder: Path | None = None
    """Path to the folder of a sentence encoder in ONNX, for vector indexes: it encodes the passages
    of new indexes and the queries to them. An index built with another encoder is rejected.
    Default: the encoder of ``scaar-english``, except for indexes of the lab. Without that package,
    only BM25 indexes can be built and searched."""

    encoder_threads: int = Field(default=1, ge=1, le=256)
    """Number of threads that encode one batch of texts."""

    reranker: Path | None = None
    """Path to the folder of a cross-encoder in ONNX, which reranks passages; ``lab-reranker`` is
    that of the lab. Default: none, and searches with ``rerank`` are rejected."""

    reranker_threads: int = Field(default=1, ge=1, le=256)
    """Number of threads that compute one batch of the cross-encoder."""

    rerank_url: str | None = None
    """URL of a server that reranks passages, instead of ``reranker``, such as
    ``http://host:8000``. Its path ``/v1/rerank`` is called, unless the URL ends in ``/rerank``."""

    rerank_model: str = ""
    """Name of the model on the server of ``rerank_url``. Default: none is sent."""

    rerank_api_key: SecretStr | None = None
    """Key of the server of ``rerank_url``, sent as a bearer token."""

    rerank_api_key_file: Path | None = None
    """Path to a file that contains only the key. Use it instead of ``rerank_api_key``."""

    rerank_ca_file: Path | None = None
    """Path to the certificates, in PEM, of the authority that must have signed the certificate of
    the server of ``rerank_url``. Default: the authorities that the system trusts."""

    rerank_timeout_s: float = Field(default=10.0, gt=0, le=600)
    """Maximum duration of a request to the server of ``rerank_url``, in seconds. The deadline of
    the call applies too."""

    rerank_max_batch: int = Field(default=64, ge=1, le=100)
    """Maximum number of passages in a request to the server of ``rerank_url``. More passages of a
    query are sent in several requests, one after another."""

    rerank_max_characters: int = Field(default=4_000, ge=1, le=1_000_000)
    """Maximum length of a query and of a passage that are sent to the server of ``rerank_url``, in
    code points. Longer ones are cut off at their end."""

    rerank_connections: int = Field(default=16, ge=1, le=1_000)
    """Maximum number of connections to the server of ``rerank_url``. Further requests wait for a
    connection."""

    build_max_passages: int = Field(default=BuildLimits().passages, ge=1)
    """Maximum number of passages in one build or upload. A larger build is rejected with
    INVALID_ARGUMENT. Wikipedia in passages of 100 words has 21 million."""

    build_max_gb: float = Field(default=BuildLimits().gigabytes, gt=0)
    """Maximum size of the passages of one build or upload, in gigabytes after decompression. A
    larger build is rejected with INVALID_ARGUMENT. Wikipedia in passages of 100 words has 14 GB.
    Blank lines are limited separately, to a million per file."""

    preload: tuple[str, ...] = ()
    """Names of the indexes to open and verify by checksum before the retriever serves. A missing or
    damaged one makes the start fail. The start takes as long as reading the indexes."""

    checksums: bool = True
    """Enables the verification of checksums when an index is opened, which reads its files
    completely. The service verifies sizes before it serves and checksums in the background; an
    index that turns out to be damaged is logged, rejected from then on, and NOT_SERVING in its
    health. If disabled, only sizes and counts are verified; use that for storage you trust.
    ``scaar doctor`` always verifies checksums. ``bm25s`` only."""

    threads: int = Field(default=4, ge=1, le=64)
    """Maximum number of requests that are searched concurrently, each in a thread; further ones
    wait. Builds have a thread of their own. ``bm25s`` only."""

    max_concurrent: int = Field(default=64, ge=1, le=10_000)
    """Maximum number of requests in progress, waiting ones included. Further requests are rejected
    with RESOURCE_EXHAUSTED and a RetryInfo delay."""

    open_indexes: int = Field(default=16, ge=1)
    """Maximum number of open indexes. At the limit, the least recently used index is closed before
    another is opened. ``bm25s`` only."""

    opensearch_urls: tuple[str, ...] = ()
    """URLs of the OpenSearch nodes, such as ``["https://host:9200"]``. Required for ``opensearch``.
    If a node cannot be reached, the request is sent to another."""

    opensearch_user: str | None = None
    """User name for OpenSearch. Default: none, for a server without security."""

    opensearch_password: SecretStr | None = None
    """Password of ``opensearch_user``."""

    opensearch_password_file: Path | None = None
    """Path to a file that contains only the password. Use it instead of
    ``opensearch_password``."""

    opensearch_ca_file: Path | None = None
    """Path to the certificates, in PEM, of the authority that must have signed the server's
    certificate. Default: the authorities that the system trusts."""

    opensearch_timeout_s: float = Field(default=10.0, gt=0)
    """Maximum duration of a request to OpenSearch, in seconds. The deadline of the call applies
    too. The requests of builds have longer, fixed limits."""

    opensearch_prefix: str = Field(default="scaar-", pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")
    """Prefix of the names of aliases and indexes on OpenSearch. Use different prefixes for
    installations that share a cluster."""

    opensearch_connections: int = Field(default=16, ge=1, le=1_000)
    """Maximum number of connections to each OpenSearch node. Further requests wait for a
    connection."""

    opensearch_shards: int = Field(default=1, ge=1, le=1_024)
    """Number of primary shards of new indexes. Use one shard for every 10 to 30 GB. With more than
    one, each search first collects the term statistics of all shards, so that scores do not depend
    on the number of shards."""

    opensearch_replicas: int = Field(default=1, ge=0, le=100)
    """Number of copies of each shard, created when a build finishes. Set it to 0 for a single node,
    which cannot store copies."""

    opensearch_bulk_mb: float = Field(default=8.0, gt=0, le=50)
    """Maximum size of a bulk request of a build, in megabytes. 5 to 15 are fastest."""

    opensearch_bulk_workers: int = Field(default=4, ge=1, le=64)
    """Maximum number of concurrent bulk requests of a build. Requests that the server rejects as
    overload are retried with growing delays."""

    @property
    def build_limits(self) -> BuildLimits:
        """Return the limits on the size of one build."""
        return BuildLimits(self.build_max_passages, self.build_max_gb)
