"""Values of the port of a scorer."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """The words of a sentence to score against (question, sentence)."""

    question: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScorerDescription:
    """The cross-encoder of a scorer."""

    model: str
    revision: str
    engine: str
    max_pair_tokens: int
