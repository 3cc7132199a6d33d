"""The orchestrator's settings, from ``SCAAR_ORCHESTRATOR_*``."""

from pathlib import Path

from pydantic import Field

from scaar.core.errors import NotFound
from scaar.core.gates import QuestionGate, read_gate
from scaar.runtime.settings import ServiceSettings, settings_of


class OrchestratorSettings(ServiceSettings):
    """Targets and timeouts of the four services that the orchestrator calls.

    A target is ``embedded``, which runs the service in the orchestrator's process, or the gRPC
    target of a running service, ``dns:///host:port``.
    """

    model_config = settings_of("orchestrator")

    generator_target: str = "embedded"
    """Target of the generator."""

    scorer_target: str = "embedded"
    """Target of the scorer."""

    query_builder_target: str = "embedded"
    """Target of the query builder."""

    retriever_target: str = "embedded"
    """Target of the retriever."""

    draft_ahead: bool = True
    """Lets the generator write the next sentence while the current one is judged, in one generation
    for as long as its text is accepted. Disabling it makes one generation call for each sentence:
    more calls, but fewer generated tokens that are discarded. The answers are the same."""

    gate_file: Path | None = None
    """Path to the model of the gate ``gece_proxy``, written by ``scaar eval longtail fit``. Without
    it, requests that enable the gate are rejected."""

    max_queued_answers: int = Field(default=16, ge=0, le=100_000)
    """Maximum number of answers in the queue; 0 disables the queue. Further answers are rejected
    with RESOURCE_EXHAUSTED and a RetryInfo delay before any model call. An answer leaves the queue
    while fewer answers are running than the generator can serve. This limit is learned from what
    the generator declares and rejects, and never exceeds ``max_concurrent_calls``, which counts
    queued answers too."""

    max_queue_s: float = Field(default=5.0, ge=0, le=3600, allow_inf_nan=False)
    """Maximum time, in seconds, that an answer waits for its first model call. An answer that is
    not expected to leave the queue within this time, or within its own deadline, is rejected
    immediately. Raise it for batch clients that prefer waiting to retrying."""

    generator_timeout_s: float = Field(default=60.0, gt=0)
    """Maximum duration of one generation, in seconds. The deadline of the answer applies too."""

    scorer_timeout_s: float = Field(default=10.0, gt=0)
    """Maximum time to score one sentence, in seconds."""

    query_builder_timeout_s: float = Field(default=5.0, gt=0)
    """Maximum time to build one query, in seconds."""

    retriever_timeout_s: float = Field(default=10.0, gt=0)
    """Maximum duration of one retrieval, in seconds."""

    def read_gate(self) -> QuestionGate | None:
        """Return the gate in ``gate_file``; None without a file.

        Raises:
            NotFound: the file does not exist or cannot be read.
            DataCorrupt: the file contains no gate.
        """
        if self.gate_file is None:
            return None
        try:
            content = self.gate_file.read_bytes()
        except OSError as error:
            text = f"gate_file {self.gate_file} cannot be read: {error.strerror}"
            raise NotFound(text) from error
        return read_gate(content, str(self.gate_file))
