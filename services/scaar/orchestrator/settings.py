"""The orchestrator's settings, from ``SCAAR_ORCHESTRATOR_*``."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import Field, SecretStr

from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound, ScaarError, Violation
from scaar.core.gates import QuestionGate, read_gate
from scaar.core.loop.shadow import check_shadow
from scaar.core.policies import PRESETS
from scaar.core.policies.artefact_json import artefact_from_json
from scaar.core.policies.artefacts import PUBLISHED_DEFAULT, TunedPolicies
from scaar.core.policies.checks import check_policy
from scaar.core.records import RecordContent
from scaar.core.sentence_filter.filter_json import filter_from_json
from scaar.core.sentence_filter.learned_filter import LearnedFilter
from scaar.core.types import ANSWER_TIMEOUT_S, PolicyArtefact, PolicyRequest
from scaar.core.validation import OPTIONAL_INDEX_NAME
from scaar.runtime.settings import EmbeddableTarget, ServiceSettings, settings_of


class OrchestratorSettings(ServiceSettings):
    """Targets and timeouts of the four services that the orchestrator calls.

    A target is ``embedded``, which runs the service in the orchestrator's process, or the gRPC
    target of a running service, ``dns:///host:port``.
    """

    model_config = settings_of("orchestrator")

    generator_target: EmbeddableTarget = "embedded"
    """Target of the generator."""

    scorer_target: EmbeddableTarget = "embedded"
    """Target of the scorer."""

    query_builder_target: EmbeddableTarget = "embedded"
    """Target of the query builder."""

    retriever_target: EmbeddableTarget = "embedded"
    """Target of the retriever."""

    draft_ahead: bool = True
    """Lets the generator write the next sentence while the current one is judged, in one generation
    for as long as its text is accepted. Disabling it makes one generation call for each sentence:
    more calls, but fewer generated tokens that are discarded. The answers are the same."""

    allow_scorer_mismatch: bool = False
    """Also answers with a scorer for texts of another kind than those of the model or of the index,
    such as the lab's scorer with a model of your own. Such answers, and each contribution,
    threshold and decision in them, are marked as a mismatch. By default policies that use
    contributions are rejected with SCORER_MISMATCH. Enable it for experiments only."""

    gate_file: Path | None = None
    """Path to the file of a gate: ``gece_proxy``, written by ``scaar eval longtail fit``, ``skr``,
    written by ``scaar eval fit-skr``, ``probe`` and ``p_correct``, written by ``scaar eval
    fit-probe`` and ``fit-p-correct``, or the router ``adaptive_rag``, written by ``scaar eval
    router fit``; or of a gate that asks the model, with other values than its defaults. Without it,
    requests that name a gate that needs a file are rejected."""

    gate_encoder: Path | None = None
    """Folder of the sentence encoder of the gate ``skr``, the one that its file was written with.
    The gate runs it in the orchestrator's process, which needs the extra ``scorer``. Default: the
    encoder of ``scaar-english``, which is rejected for a file of another encoder."""

    sentence_filter_file: Path | None = None
    """Path to the file of a sentence filter, written by ``scaar eval filter fit``, for the policy
    ``filco`` and the policy setting ``sentence_filter``. Without it, an embedded lab model has the
    filter fitted for it; otherwise requests that need a filter are rejected."""

    corpus_counts_file: Path | None = None
    """Path to a file of corpus counts, written by ``scaar corpus count``, for the policy ``quco``,
    the trigger ``corpus_counts`` and the gate ``quco``. The file is checked at start and mapped
    into memory, not read into it. Without it, requests that need counts are rejected."""

    policy_folder: Path | None = None
    """Path to a folder of policy artefacts, files ``*.json`` written by ``scaar tune``. Requests
    name a tuned policy as they name a published one. The folder is read at start, and an invalid
    artefact is an error. Without a folder, an embedded lab model has the policies tuned on it."""

    default_policy: str = PUBLISHED_DEFAULT
    """Name of the policy of requests that name none: a published policy, that of an installed
    package, or a tuned policy in ``policy_folder``."""

    default_index: str = Field(default="", pattern=OPTIONAL_INDEX_NAME)
    """Index of requests that name none. Default: that of an installed provider of defaults, ``lab``
    with ``scaar-lab``; without one, a request that retrieves must name an index. ``scaar up
    --documents`` sets it."""

    shadow_policy: str = ""
    """Name of a second policy whose trigger judges the same drafts, without retrieving and without
    calls of the language model. The metric ``scaar_shadow_drafts_total`` reports how often the two
    policies would decide differently. A trigger that needs contributions costs calls of the
    scorer; one that needs attention is rejected. By default no second policy runs."""

    shadow_share: float = Field(default=0.1, gt=0, le=1)
    """Share of the answers on whose drafts ``shadow_policy`` runs, (0, 1]. Raise it for more
    comparisons, lower it if the scorer is the bottleneck."""

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

    records_database: SecretStr | None = None
    """URL of the database of answer records: ``sqlite:///FILE``, or
    ``postgresql://USER:PASSWORD@HOST/NAME``, whose tables ``scaar db upgrade --tables records``
    creates. A service of records reads it. Several orchestrators need PostgreSQL. By default no
    records are kept. Requires the extra ``records``."""

    records_database_file: Path | None = None
    """File that contains the URL of the database of records and nothing else; an alternative to
    ``records_database``."""

    records_content: RecordContent = RecordContent.NONE
    """Texts in the records: ``none``, only numbers, ids and times; ``hashed``, a keyed digest in
    place of each text, so that equal texts can be found; or ``full``."""

    records_hash_key_file: Path | None = None
    """File with the key of the digests, at least 16 bytes. Required for ``hashed``."""

    records_max_record_kib: int = Field(default=1024, ge=16, le=16_384)
    """Maximum size of a record, in KiB, compressed. A larger one is kept without its tokens, and
    then without the texts of its passages."""

    records_max_waiting_mib: int = Field(default=32, ge=1, le=1024)
    """Maximum size of the records that wait while the database is slow or unavailable, in MiB.
    Further records are dropped and counted; answers are never delayed."""

    answer_timeout_s: float = Field(default=ANSWER_TIMEOUT_S, ge=0, le=3600, allow_inf_nan=False)
    """Time limit of an answer whose request sets no ``budget.timeout_s``, in seconds. 0 is no limit
    but that of the call. ``scaar up`` sets 0, since a model on a laptop may be slow."""

    scorer_timeout_s: float = Field(default=10.0, gt=0)
    """Maximum time to score one sentence, in seconds."""

    query_builder_timeout_s: float = Field(default=5.0, gt=0)
    """Maximum time to build one query, in seconds."""

    retriever_timeout_s: float = Field(default=10.0, gt=0)
    """Maximum duration of one retrieval, in seconds."""

    trace_content: bool = False
    """Adds the text of questions, queries, prompts, passages and answers to the spans that are sent
    to ``otlp_endpoint``. By default spans have ids, scores and counts only. Enable it only if
    everyone who can read the traces may read the texts."""

    def read_policies(self, others: Iterable[PolicyArtefact] = ()) -> TunedPolicies:
        """Return the tuned policies in ``policy_folder`` and the ``others``.

        Raises:
            InvalidRequest: naming every file without a valid artefact, every name that two
                artefacts have, and an invalid default or shadow policy.
        """
        found: dict[str, PolicyArtefact] = {}
        wrong: list[Violation] = []
        for where, artefact in (*self._read_folder(wrong), *(("", each) for each in others)):
            if artefact.name in found:
                text = f"{where}: another artefact has the name {artefact.name}"
                wrong.append(Violation("policy_folder", text))
            found[artefact.name] = artefact
        policies = TunedPolicies(found.values(), default=self.default_policy)
        if not wrong:
            default = policies.resolve(PolicyRequest(""))
            problems = check_policy(default, policies)
            wrong += (Violation("default_policy", each.description) for each in problems)
            wrong += self._shadow_problems(policies)
        if wrong:
            raise InvalidRequest(wrong)
        return policies

    def _shadow_problems(self, policies: TunedPolicies) -> Sequence[Violation]:
        if self.shadow_policy:
            counts = self.corpus_counts_file is not None
            try:
                check_shadow(self.shadow_policy, policies, corpus_counts=counts)
            except InvalidRequest as error:
                return error.violations
        return ()

    def _read_folder(self, wrong: list[Violation]) -> list[tuple[str, PolicyArtefact]]:
        """Return the artefacts of the folder with their paths; problems are added to ``wrong``."""
        if self.policy_folder is None:
            return []
        found = []
        try:
            paths = sorted(each for each in self.policy_folder.iterdir() if each.suffix == ".json")
        except OSError as error:
            text = f"{self.policy_folder} cannot be read: {error.strerror}"
            wrong.append(Violation("policy_folder", text))
            return []
        for path in paths:
            try:
                found.append((str(path), read_artefact(path)))
            except ScaarError as error:
                wrong.append(Violation("policy_folder", error.message))
        return found

    def read_gate(self) -> QuestionGate | None:
        """Return the gate in ``gate_file``; None without a file.

        Raises:
            NotFound: the file does not exist or cannot be read.
            DataCorrupt: the file contains no gate, or a router to an unknown policy.
        """
        if self.gate_file is None:
            return None
        try:
            content = self.gate_file.read_bytes()
        except OSError as error:
            raise NotFound(f"{self.gate_file} cannot be read: {error.strerror}") from error
        gate = read_gate(content, str(self.gate_file))
        for name in gate.policies:
            if name not in PRESETS:
                raise DataCorrupt(f"{self.gate_file}: policies: {PRESETS.unknown(name)}")
        return gate


def read_sentence_filter(path: Path) -> LearnedFilter:
    """Return the sentence filter in a file.

    Raises:
        NotFound: the file does not exist or cannot be read.
        DataCorrupt: the file contains no filter; names the field.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}") from error
    return filter_from_json(content, str(path))


def read_artefact(path: Path) -> PolicyArtefact:
    """Return the policy artefact in a file.

    Raises:
        NotFound: the file does not exist or cannot be read.
        DataCorrupt: the file contains no valid artefact; names the field.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}") from error
    return artefact_from_json(content, str(path))
