"""The orchestrator's settings, from ``SCAAR_ORCHESTRATOR_*``."""

from pathlib import Path

from pydantic import Field

from scaar.runtime.settings import ServiceSettings, settings_of


class OrchestratorSettings(ServiceSettings):
    """Where the four ports are, and how long a call of each may take.

    A target is ``embedded`` or the gRPC target of a running service, ``dns:///host:port``.
    """

    model_config = settings_of("orchestrator")

    generator_target: str = "embedded"
    """The language model."""

    scorer_target: str = "embedded"
    """The contribution scorer."""

    query_builder_target: str = "embedded"
    """The query builder."""

    retriever_target: str = "embedded"
    """The retriever."""

    draft_ahead: bool = True
    """Whether the model writes on while a sentence is judged, in one generation as long as its
    text stands. Answers are the same without, where every sentence is a call: fewer tokens to pay
    for that are never read, and more calls."""

    gate_file: Path | None = None
    """The file of the gate ``gece_proxy``, as ``scaar eval longtail fit`` writes it; without one,
    questions that ask for the gate are refused."""

    max_queued_answers: int = Field(default=16, ge=0, le=100_000)
    """Maximum number of answers that wait for a place; 0 disables the queue. Further ones are
    rejected with RESOURCE_EXHAUSTED and a RetryInfo delay before any model call. An answer gets a
    place while fewer are under way than the generator serves; this limit is learned from what the
    generator declares and refuses, and never exceeds ``max_concurrent_calls``, which counts queued
    answers too."""

    max_queue_s: float = Field(default=5.0, ge=0, le=3600, allow_inf_nan=False)
    """Maximum time, in seconds, that an answer waits for its first model call. An answer that is
    not expected to get a place within it, or within its own deadline, is rejected at once. Raise it
    for batch clients that prefer waiting to retrying."""

    generator_timeout_s: float = Field(default=60.0, gt=0)
    """The longest that one generation may take, in seconds. A call never outlives its answer."""

    scorer_timeout_s: float = Field(default=10.0, gt=0)
    """The longest that scoring one sentence may take, in seconds."""

    query_builder_timeout_s: float = Field(default=5.0, gt=0)
    """The longest that building one query may take, in seconds."""

    retriever_timeout_s: float = Field(default=10.0, gt=0)
    """The longest that one retrieval may take, in seconds."""
