"""The scorer's settings, from ``SCAAR_SCORER_*``."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from scaar.runtime.settings import ServiceSettings, settings_of
from scaar.scorer.validation import MAX_WORDS_OF_CALL


class ScorerSettings(ServiceSettings):
    """Which engine runs which model, and how much of the machine it may take."""

    model_config = settings_of("scorer")

    engine: Literal["onnx", "bi_encoder", "triton"] = "onnx"
    """``onnx``: an exported cross-encoder with one logit, in ONNX Runtime on the CPU. ``triton``:
    such a model behind a Triton server; its texts are read into tokens here. ``bi_encoder``: an
    exported sentence encoder in ONNX Runtime; two texts are as alike as the cosine of their
    vectors says."""

    control: Literal["none", "permuted", "constant", "idf"] = "none"
    """What is told in the place of the model's contributions, so that they can be held against it:
    the same within the sentence ``permuted``, their mean over it (``constant``), or how rare each
    word is in English (``idf``, which asks no model). The model's name says which."""

    model: Path | None = None
    """The model's checkpoint folder. For ``triton`` its tokenizer and its configuration are
    enough."""

    threads: int = Field(default=2, ge=1, le=256)
    """Threads for the arithmetic of one batch."""

    workers: int = Field(default=1, ge=1, le=256)
    """Batches that are computed at the same time."""

    max_batch_pairs: int = Field(default=32, ge=1, le=4096)
    """The most pairs of texts in one batch, and in one request to Triton. More take more memory:
    for a model of h heads, 4 h times the square of the longest pair's tokens in bytes for each
    pair. On a CPU they make longer waits behind one another and hardly more throughput."""

    padding: Literal["longest", "bucket"] = "longest"
    """Every pair of a batch is filled up to the ``longest`` among them, or to their ``bucket`` (64,
    128, 256, 512 tokens or the model's maximum): few shapes, as some hardware needs them, for up
    to twice the arithmetic."""

    max_queued_pairs: int = Field(default=8192, ge=MAX_WORDS_OF_CALL, le=1_000_000)
    """Pairs that wait for a batch, or of which Triton was asked; a call that would bring more is
    refused as overload."""

    triton_target: str | None = None
    """Where the Triton server takes gRPC, ``dns:///host:8001``; needed for ``triton``."""

    triton_tls: bool = False
    """Whether the connection to Triton is by TLS; without, it is plaintext."""

    triton_ca_file: Path | None = None
    """The certificates, in PEM, that Triton's must be signed by. Unset: those that gRPC brings."""

    triton_client_cert_file: Path | None = None
    """The certificate, in PEM, by which Triton knows this client, where it asks for one;
    ``triton_client_key_file`` is its key."""

    triton_client_key_file: Path | None = None
    """The key of that certificate, in PEM and not encrypted."""

    triton_model: str = Field(default="contribution_scorer", min_length=1)
    """The model's name in Triton's repository."""

    triton_requests: int = Field(default=16, ge=1, le=1024)
    """Requests to Triton under way at a time; further ones wait here. Triton's own queue should
    have room for those of every scorer together."""

    triton_timeout_s: float = Field(default=10.0, gt=0)
    """The longest that one call may take with Triton, in seconds."""

    cache_entries: int = Field(default=4096, ge=0, le=10_000_000)
    """Sentences whose contributions are remembered, the least recently asked for forgotten first;
    0 remembers none."""
