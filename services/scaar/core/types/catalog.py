"""Values of the orchestrator's catalog: its policies, models and searches."""

from dataclasses import dataclass

from scaar.core.types.artefacts import (
    DevelopmentFigures,
    ExpectedCost,
    LabelKind,
    RiskFigures,
    TuningConditions,
)
from scaar.core.types.generation import Capability, ModelDescription
from scaar.core.types.policies import EffectivePolicy
from scaar.core.types.retrieval import (
    Filter,
    HybridSettings,
    RerankSettings,
    RetrievedPassage,
    SearchMode,
)
from scaar.core.types.scoring import ScorerDescription


@dataclass(frozen=True, slots=True)
class ArtefactDescription:
    """The artefact of a tuned policy: its origin, its expected cost and its quality.

    ``mismatches`` are the differences between what the policy was tuned on and the current model,
    scorer and index.
    """

    digest: str
    policy: str
    """The published policy that the tuned one starts from."""
    tuned_on: TuningConditions
    label_kind: LabelKind
    development: DevelopmentFigures
    expected: ExpectedCost
    risk: RiskFigures | None = None
    mismatches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PolicyDescription:
    """A policy, its settings for the current model, and its requirements.

    ``policy`` is the policy as it runs when a request names it without overrides, and ``settings``
    are the names of the settings that a request can override. A policy cannot be served if its
    model lacks capabilities, or the orchestrator files, which are named by their settings.
    """

    policy: EffectivePolicy
    settings: tuple[str, ...]
    uses_scorer: bool
    uses_retriever: bool
    missing_capabilities: tuple[Capability, ...] = ()
    artefact: ArtefactDescription | None = None
    """The artefact of a tuned policy; None for a published policy."""
    missing_files: tuple[str, ...] = ()

    @property
    def is_served(self) -> bool:
        """Whether the model and the orchestrator have what the policy needs."""
        return not (self.missing_capabilities or self.missing_files)

    @property
    def name(self) -> str:
        """The name of the policy."""
        return self.policy.name


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A query for at most ``top_k`` passages of one index that match all ``filters``.

    An empty ``index`` selects the default index of the orchestrator. Passages of the
    ``excluded_ids`` are not returned. ``mode``, ``hybrid`` and ``rerank`` are those
    of :class:`RetrieveRequest`.
    """

    query: str
    index: str = ""
    top_k: int = 3
    filters: tuple[Filter, ...] = ()
    excluded_ids: tuple[str, ...] = ()
    mode: SearchMode = SearchMode.INDEX
    hybrid: HybridSettings | None = None
    rerank: RerankSettings | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The passages for a query, best first, and the version of the index."""

    index: str
    index_version: str
    passages: tuple[RetrievedPassage, ...]


@dataclass(frozen=True, slots=True)
class OrchestratorDescription:
    """The version of an orchestrator and the models that answer.

    ``gate_revision`` is the digest of the gate's file, empty without a gate. ``default_policy`` is
    the policy of requests that name none. ``sentence_filter_digest`` is the digest of the sentence
    filter, empty without one.
    """

    version: str
    model: ModelDescription
    scorer: ScorerDescription
    gate_revision: str = ""
    default_policy: str = ""
    sentence_filter_digest: str = ""
