"""What crosses the port of a query builder."""

import enum
from dataclasses import dataclass

from scaar.core.types.judging import AttendedWord, JudgedWord


class Formulation(enum.StrEnum):
    """What to ask the retriever."""

    QUESTION = "question"
    CURRENT_SENTENCE = "current_sentence"
    LAST_SENTENCE = "last_sentence"
    LAST_N_TOKENS = "last_n_tokens"
    FULL_CONTEXT = "full_context"
    PFQ = "pfq"
    CONTENT_WORDS = "content_words"
    ATTENTION = "attention"
    ATTENTION_REFERENCE = "attention_reference"


class WordOrder(enum.StrEnum):
    """In which order a percentile-filtered query names the kept words."""

    TEXT = "text"
    CONTRIBUTION = "contribution"


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """How a query is formulated."""

    formulation: Formulation
    include_question: bool
    alpha: float = 50.0
    """Share of words kept by PFQ, in percent, (0, 100]."""
    word_order: WordOrder = WordOrder.TEXT
    last_n_tokens: int = 25
    max_words: int = 64
    """The most words of a query; the question is never cut."""
    top_words: int = 25
    """How many of the words that are attended to most are asked with (DRAGIN's top n)."""


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """What a query is built from.

    ``words`` are the judged words of the drafted sentence (empty where none was drafted),
    ``accepted`` the sentences accepted so far, ``recent_tokens`` the texts of the last tokens
    written (for ``last_n_tokens``), ``attended`` the words of question and answer, in text order,
    that the trigger attends to (for ``attention``).
    """

    question: str
    settings: QuerySettings
    words: tuple[JudgedWord, ...] = ()
    accepted: tuple[str, ...] = ()
    recent_tokens: tuple[str, ...] = ()
    attended: tuple[AttendedWord, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """What the retriever is asked, and how it came about.

    ``kept`` are the positions of the drafted sentence's words that are in the query;
    ``fell_back`` says that the formulation was empty and the question stands in its place.
    """

    text: str
    formulation: Formulation
    kept: tuple[int, ...] = ()
    fell_back: bool = False
