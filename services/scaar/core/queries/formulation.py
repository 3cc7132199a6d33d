"""The rule of a query formulation, its result, and the limit on its words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scaar.core.types import EvidenceKind, JudgedWord, QueryRequest, WordRule


@dataclass(frozen=True, slots=True)
class Formulated:
    """The words of a query without the question, in the order of the query.

    ``kept`` has their positions in the draft, and is empty if they are not from the draft.
    """

    words: tuple[str, ...] = ()
    kept: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FormulationRule:
    """A query formulation and the evidence that it needs.

    ``formulate`` takes the request and the maximum number of words of the query. A formulation that
    ``needs_draft`` is of the words of a judged draft. ``settings`` names the settings that it uses:
    ``alpha``, ``word_order``, ``last_n_tokens``, ``top_words``.
    """

    formulate: Callable[[QueryRequest, int], Formulated]
    needs: frozenset[EvidenceKind] = frozenset()
    needs_draft: bool = False
    settings: frozenset[str] = frozenset()
    includes_question: bool = False
    """Whether the query starts with the question by default."""
    reads_again: bool = False
    """Whether the attention is that of the text read again, without the prompt."""
    uses_word_classes: bool = False
    masks: bool = False
    """Whether the query leaves out the uncertain words of the draft."""
    otherwise: WordRule = WordRule.OTHER
    """Why the query lacks a word that is neither uncertain nor beyond the cut-off of ``alpha``."""
    uses_passage: bool = False
    """Whether the model first writes a passage for the question."""
    uses_read_passages: bool = False
    """Whether the query depends on the passages that the answer has read."""
    fused_with: "FormulationRule | None" = None
    """A second formulation, without the question, whose results are fused with those of this one.
    The retriever searches for both."""


def of_draft(words: Sequence[JudgedWord], positions: Sequence[int], room: int) -> Formulated:
    """Return the words of the draft at ``positions``, at most ``room`` of them.

    Words with the smallest contribution are dropped first; among equal or unknown contributions the
    later word is dropped.
    """
    best = set(by_contribution(words, positions)[:room])
    kept = tuple(position for position in positions if position in best)
    return Formulated(_texts(words, kept), kept)


def _texts(words: Sequence[JudgedWord], kept: Sequence[int]) -> tuple[str, ...]:
    """Return the texts; adjacent parts of a word, such as its tokens, are joined."""
    texts = list[str]()
    end = -1
    for position in kept:
        word = words[position]
        if texts and word.start == end:
            texts[-1] += word.text
        else:
            texts.append(word.text)
        end = word.end
    return tuple(texts)


def of_written(text: str, room: int) -> Formulated:
    """Return the words of an accepted text; beyond ``room`` the earliest are dropped first."""
    words = text.split()
    return Formulated(tuple(words[max(0, len(words) - room) :]))


def by_contribution(words: Sequence[JudgedWord], positions: Sequence[int]) -> list[int]:
    """Return the positions from the largest contribution to the smallest, ties by position."""
    return sorted(
        positions, key=lambda position: (-(words[position].contribution or 0.0), position)
    )
