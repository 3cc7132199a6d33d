"""The scorer's settings, from ``SCAAR_SCORER_*``."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from scaar.core.types.scoring import MAX_WORDS_OF_SCORING
from scaar.runtime.settings import ServiceSettings, Target, settings_of


class ScorerSettings(ServiceSettings):
    """Which engine runs which model, and how many resources it may use."""

    model_config = settings_of("scorer")

    engine: Literal["onnx", "bi_encoder", "triton"] = "onnx"
    """Engine that computes the similarity of texts. ``onnx``: an exported cross-encoder with one
    logit, in ONNX Runtime on the CPU. ``triton``: a cross-encoder on a Triton server; the scorer
    tokenizes its texts. ``bi_encoder``: an exported sentence encoder in ONNX Runtime; the
    similarity is the cosine of two vectors."""

    control: Literal["none", "permuted", "constant", "idf"] = "none"
    """Replaces the model's contributions with a control baseline: the same values ``permuted``
    within the sentence, their mean over the sentence (``constant``), or the rarity of each word in
    English (``idf``, which needs no model). The reported model name contains the control. Use it
    for ablations only."""

    model: Path | None = None
    """Path to the model's checkpoint folder. Required, except for the control ``idf``. For
    ``triton``, the tokenizer and the configuration suffice."""

    text_kind: str = Field(default="", max_length=64, pattern="^([a-z][a-z0-9_]*)?$")
    """Kind of text that the model was trained on: ``lab``, ``english``, or another lower-case name.
    An orchestrator rejects a scorer whose kind does not fit its model or its index. The kinds of
    the scorers that come with scaar are known; any other one is by default of an unknown kind,
    which fits everything. Without ``model``, it selects the scorer of this kind."""

    threads: int = Field(default=2, ge=1, le=256)
    """Number of threads that compute one batch. For ``onnx`` and ``bi_encoder``."""

    workers: int = Field(default=1, ge=1, le=256)
    """Number of batches that are computed in parallel. For ``onnx`` and ``bi_encoder``."""

    max_batch_pairs: int = Field(default=32, ge=1, le=4096)
    """Maximum number of text pairs in one batch, and in one request to Triton. A larger batch needs
    more memory: 4 h t^2 bytes per pair, for a model with h attention heads and t tokens in the
    longest pair; so an ``onnx`` or ``bi_encoder`` batch of pairs of 256 or 512 tokens has at most a
    half or a quarter as many. On a CPU, larger batches increase latency and hardly increase
    throughput."""

    padding: Literal["longest", "bucket"] = "longest"
    """Length to which the pairs of a batch are padded: that of the ``longest`` pair, or of their
    ``bucket`` (64, 128, 256 or 512 tokens, or the model's maximum). Use ``bucket`` for hardware
    that needs few different shapes; it computes up to twice as much."""

    max_queued_pairs: int = Field(default=8192, ge=MAX_WORDS_OF_SCORING, le=1_000_000)
    """Maximum number of text pairs that wait for a batch; for ``triton``, of pairs in progress. A
    call that would exceed the limit is rejected with RESOURCE_EXHAUSTED."""

    triton_target: Target | None = None
    """Address of the Triton server's gRPC port, ``dns:///host:8001``. Required for ``triton``."""

    triton_tls: bool = False
    """Enables TLS for the connection to Triton. Default: plaintext."""

    triton_ca_file: Path | None = None
    """Path to the certificates, in PEM, of the authority that must have signed Triton's
    certificate. Requires ``triton_tls``. Default: the authorities built into gRPC."""

    triton_client_cert_file: Path | None = None
    """Path to the client certificate, in PEM, for a Triton server that requires one. Requires
    ``triton_client_key_file``."""

    triton_client_key_file: Path | None = None
    """Path to the unencrypted private key of ``triton_client_cert_file``, in PEM."""

    triton_model: str = Field(default="contribution_scorer", min_length=1)
    """Name of the model in Triton's model repository."""

    triton_requests: int = Field(default=16, ge=1, le=1024)
    """Maximum number of concurrent requests to Triton. Further requests wait in the scorer. Make
    sure that Triton's queue holds the requests of all scorers together."""

    triton_timeout_s: float = Field(default=10.0, gt=0)
    """Maximum time that a call may spend on Triton, in seconds. The deadline of the call applies
    too."""

    cache_entries: int = Field(default=4096, ge=0, le=10_000_000)
    """Maximum number of sentences in the cache of contributions. At the limit, the least recently
    used sentence is removed. 0 disables the cache."""
