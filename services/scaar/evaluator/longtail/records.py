"""What a label of the long tail is made of, a record a question, and what made it."""

from dataclasses import dataclass

from scaar.evaluator.results import DatasetOrigin

FORMAT = 1
"""The version of the form in which labels are kept."""


@dataclass(frozen=True, slots=True)
class Labelling:
    """What is labelled and by what; ``created`` is when it was begun, RFC 3339 in UTC.

    ``frequencies`` says what words were counted in, ``weights`` are the names of the weights whose
    gradients are taken, and ``share`` is how much of the questions is called long-tail.
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
    """What the model answers to a question by itself, and what is counted of it.

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
    """What GECE is computed from."""

    meteor: float
    probability: float
    frequency: float
    product: float


@dataclass(frozen=True, slots=True)
class Label:
    """A question's GECE with its parts, its rank from 1 for the most long-tail, and the label.

    ``gece`` is None where it is infinite, the product being 0 or less. ``without_statistics`` and
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
