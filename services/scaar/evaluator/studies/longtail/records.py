"""The records of a labelling of the long tail, one per question, and its settings."""

from dataclasses import dataclass

from scaar.evaluator.results import DatasetOrigin

FORMAT = 1
"""Version of the format of labels."""


@dataclass(frozen=True, slots=True)
class Labelling:
    """The settings of a labelling; ``created`` is its start, RFC 3339 in UTC.

    ``frequencies`` names the source of word frequencies, ``weights`` the weights whose gradients
    are computed, and ``share`` is the share of the questions that is called long-tail.
    """

    scaar: str
    created: str
    dataset: DatasetOrigin
    model: str
    revision: str
    prompt_profile: str
    frequencies: str
    weights: tuple[str, ...]
    share: float
    format: int = FORMAT


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer of the model to a question without retrieval, with its statistics.

    ``probability`` is the mean of its tokens', and ``confidence`` that of the first sentence.
    ``frequency`` is the average of the words of question and reference, in ``question_frequency``
    of the question alone, ``rarest`` that of the question's rarest word.
    """

    question_id: str
    prediction: str
    text: str
    meteor: float
    probability: float
    confidence: float
    frequency: float
    question_frequency: float
    rarest: float


@dataclass(frozen=True, slots=True)
class Product:
    """The dot product of the data set's mean gradient and that of a question."""

    question_id: str
    product: float


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts that GECE is computed from."""

    meteor: float
    probability: float
    frequency: float
    product: float


@dataclass(frozen=True, slots=True)
class Label:
    """A question's GECE with its parts, its rank from 1 for the most long-tail, and the label.

    ``gece`` is None if it is infinite because the product is 0 or less. ``without_statistics`` and
    ``without_semantics`` are the ranks of GECE's ablations.
    """

    question_id: str
    question: str
    reference: str
    prediction: str
    parts: Parts
    confidence: float
    question_frequency: float
    rarest: float
    gece: float | None
    rank: int
    long_tail: bool
    without_statistics: int
    without_semantics: int
