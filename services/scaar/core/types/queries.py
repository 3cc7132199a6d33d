"""Values of the port of a query builder."""

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from scaar.core.types.judgements import AttendedWord, JudgedWord
from scaar.core.types.retrieval import RetrievedPassage


class WordOrder(enum.StrEnum):
    """Order of the words in a percentile-filtered query."""

    TEXT = "text"
    CONTRIBUTION = "contribution"


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """How a query is formulated."""

    formulation: str
    """A name in :mod:`scaar.core.queries`."""
    include_question: bool
    alpha: float = 50.0
    """Share of words kept by PFQ, in percent, (0, 100]."""
    word_order: WordOrder = WordOrder.TEXT
    last_n_tokens: int = 25
    max_words: int = 64
    """Maximum number of words of a query; the question is never cut."""
    top_words: int = 25
    """Number of the most attended words in a query (DRAGIN's top n)."""


MAX_READ_PASSAGES = 64
MAX_READ_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """A passage from which an accepted sentence was written, for queries after it.

    ``rank`` is that in the results of its retrieval, from 1.
    """

    title: str
    text: str
    rank: int

    @classmethod
    def newest(cls, passages: Iterable[RetrievedPassage]) -> "tuple[ReadPassage, ...]":
        """Return the last ``MAX_READ_PASSAGES`` passages, in order.

        Each has at most ``MAX_READ_CHARACTERS`` of its text.
        """
        return tuple(
            cls(each.title, each.text[:MAX_READ_CHARACTERS], each.rank)
            for each in list(passages)[-MAX_READ_PASSAGES:]
        )


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """The material of a query.

    ``words`` are the judged words of the draft (empty without a draft), ``accepted`` the accepted
    sentences, ``recent_tokens`` the texts of the last tokens (for ``last_n_tokens``), and
    ``attended`` the words of question and answer, in text order, with the attention that the
    trigger pays to them (for ``attention``). ``passage`` is the passage that the model wrote for
    the question (for ``pseudo_passage``), and ``read`` are the passages that the answer has read,
    each once, in the order they were read (for ``bridged``).
    """

    question: str
    settings: QuerySettings
    words: tuple[JudgedWord, ...] = ()
    accepted: tuple[str, ...] = ()
    recent_tokens: tuple[str, ...] = ()
    attended: tuple[AttendedWord, ...] = ()
    passage: str = ""
    read: tuple[ReadPassage, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """A query to the retriever, and its origin.

    ``kept`` are the positions of the words of the draft that are in the query. With ``fell_back``,
    the formulation was empty, and the question replaces it.
    """

    text: str
    formulation: str
    kept: tuple[int, ...] = ()
    fell_back: bool = False
    fused_with: str = ""
    """A second query, whose results are fused with those of ``text``; empty without one."""


class WordRule(enum.StrEnum):
    """Why a query lacks a word of the draft."""

    UNCERTAIN = "uncertain"
    CONTRIBUTION = "contribution"
    """Its rank by contribution is above the cut-off of alpha."""
    WORD_CLASS = "word_class"
    SPAN = "span"
    """It belongs to a name, date or number with an uncertain word."""
    ENTITY = "entity"
    """It belongs to an entity that is not the head of the sentence."""
    MAX_WORDS = "max_words"
    OTHER = "other"
    """Another rule, or one of several that cannot be distinguished."""


@dataclass(frozen=True, slots=True)
class QueryWord:
    """Whether a query has a word of the draft, and every rule that leaves it out.

    A fused query can have the word in its second text only: then it is ``kept``, and the rules are
    those of the first text. ``rank`` is that by contribution, from 1; None unless the formulation
    ranks the words.
    """

    kept: bool
    left_out_by: tuple[WordRule, ...] = ()
    rank: int | None = None
