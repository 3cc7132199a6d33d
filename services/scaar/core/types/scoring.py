"""Values of the port of a scorer."""

from dataclasses import dataclass

MAX_SCORED_WORDS = 256
"""Maximum number of words of a sentence to score."""
MAX_SCORED_CHARACTERS = 8_000
"""Maximum length of a question and of a sentence to score. Both are tokenized once per word."""
MAX_WORDS_OF_SCORING = 4_096
"""Maximum number of words of a call."""
MAX_CHARACTERS_OF_SCORING = 524_288
"""Maximum length of all questions and sentences of a call."""


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
    text_kind: str = ""
    """Kind of text that the model was trained on, such as ``lab``; empty if it is unknown."""
