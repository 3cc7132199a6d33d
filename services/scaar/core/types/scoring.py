"""What crosses the port of a scorer."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """A sentence, as its words, whose contributions to (question, sentence) are wanted."""

    question: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScorerDescription:
    """Which cross-encoder scores."""

    model: str
    revision: str
    engine: str
    max_pair_tokens: int
