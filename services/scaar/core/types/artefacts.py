"""Policy artefacts: tuned policies with everything that is needed to serve and to judge them."""

import enum
from dataclasses import dataclass

from scaar.core.types.learned import LearnedTrigger
from scaar.core.types.policies import PolicyOverrides


class LabelKind(enum.StrEnum):
    """The labels of drafted sentences that a policy was tuned with."""

    EXACT = "exact"
    """Whether the facts of the draft are wrong, as the world of the lab states them."""
    COUNTERFACTUAL = "counterfactual"
    """Whether retrieving for the sentence changed the correctness of the answer."""
    NONE = "none"
    """No labels: the questions have no answers, and the threshold alone was tuned."""


@dataclass(frozen=True, slots=True)
class TuningConditions:
    """The model, its prompt profile, the scorer and the index that a policy was tuned on.

    ``scorer`` is empty if the policy uses none; the fields of the index are empty if it never
    retrieves. ``encoder`` is empty for an index by BM25. An empty revision is unknown.
    """

    model: str
    model_revision: str = ""
    scorer: str = ""
    scorer_revision: str = ""
    index: str = ""
    index_engine: str = ""
    index_version: str = ""
    encoder: str = ""
    encoder_revision: str = ""
    analysis: str = ""
    """The text analysis of an index by BM25, such as ``english-1``."""
    prompt_profile: str = ""
    """The prompt profile of the answers, such as ``scaar@2``; empty if it is unknown. Without the
    examples, if they were not the same for all."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the bounds of its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class DevelopmentFigures:
    """The quality of a policy on the questions that it was tuned on.

    ``measure`` names the measure of ``quality``, which is None without labels. ``optimism`` is the
    inner minus the outer estimate of nested cross-validation, None if it was not estimated.
    """

    questions: int
    """Number of questions, at least 1."""
    candidates: int
    """Number of policies that were compared, at least 1."""
    measure: str = ""
    quality: Interval | None = None
    optimism: float | None = None


@dataclass(frozen=True, slots=True)
class ExpectedCost:
    """The cost of a policy on the questions that it was tuned on."""

    searches_per_answer: float
    """Mean number of searches, at least 0."""
    trigger_rate: float
    """Share of the judged sentences that trigger a retrieval, [0, 1]."""


@dataclass(frozen=True, slots=True)
class RiskFigures:
    """A risk-controlled threshold (Learn-then-Test), and its figures on the calibration split.

    With probability 1 - ``delta``, at most ``max_risk`` of the answers contain a wrong draft that
    is accepted unchecked, for questions exchangeable with those of the calibration split.
    """

    max_risk: float
    delta: float
    answers: int
    """Number of calibration answers, at least 1."""
    risk: float
    """Share of the calibration answers with a wrong draft that is accepted unchecked."""
    caught: float | None = None
    """Share of the wrong drafts that trigger a retrieval."""
    false_alarms: float | None = None
    """Share of the right drafts that trigger a retrieval."""


@dataclass(frozen=True, slots=True)
class UnitTime:
    """The time of a unit of usage in ms, at least 0; ``unit`` names a field of the usage."""

    unit: str
    ms: float


@dataclass(frozen=True, slots=True)
class LatencyFigures:
    """The time of answers in the objective of a tuning, by its cost model."""

    weight: float
    """Quality that a second of an answer is worth, above 0."""
    seconds_per_answer: float
    """Mean time of an answer, at least 0."""
    unit_times_ms: tuple[UnitTime, ...]


@dataclass(frozen=True, slots=True)
class PolicyArtefact:
    """A tuned policy: a published policy with settings of its own, under a name of its own.

    ``settings`` override those of ``policy``; a setting without a value is the model's
    recommendation or the policy's default. ``learned`` are the parameters of the trigger
    ``learned``. ``digest`` is the SHA-256 of all other fields
    (:func:`~scaar.core.policies.artefact_json.digest_of`).
    """

    name: str
    policy: str
    settings: PolicyOverrides
    tuned_on: TuningConditions
    label_kind: LabelKind
    development: DevelopmentFigures
    expected: ExpectedCost
    learned: LearnedTrigger | None = None
    risk: RiskFigures | None = None
    latency: LatencyFigures | None = None
    digest: str = ""
