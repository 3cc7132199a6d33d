"""Pairs of texts whose similarities determine the contributions of words (SCAAR Eq. 1)."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Protocol, TypeVar

from scaar.core.errors import InvalidRequest
from scaar.core.loop.contribution import leave_one_out
from scaar.core.text.windows import windows_of
from scaar.core.types import ScoreRequest
from scaar.scorer.engines.batched_request import Pair

P_co = TypeVar("P_co", bound=Pair, covariant=True)
P = TypeVar("P", bound=Pair)


class Reader(Protocol[P_co]):
    """Tokenizes pairs of texts for one model. Blocks."""

    @property
    def max_pair_tokens(self) -> int:
        """Maximum length of a pair, in tokens."""
        ...

    def read(self, pairs: Sequence[tuple[str, str]]) -> Sequence[P_co]:
        """Tokenize each pair without truncation."""
        ...


def encode_requests(reader: Reader[P], requests: Sequence[ScoreRequest]) -> list[P]:
    """Return the pairs of all requests, concatenated. Blocks.

    Raises:
        InvalidRequest: a word is too long for the model; the error names the sentence's position.
    """
    return [
        pair
        for number, request in enumerate(requests)
        for pair in encode_pairs(reader, request, field=f"sentences[{number}].words")
    ]


def contributions_of(
    requests: Sequence[ScoreRequest], similarities: Iterable[float]
) -> tuple[tuple[float, ...], ...]:
    """Return the contribution r = 1 - f of every word, clamped to [0, 1]; f is the similarity."""
    each = iter(similarities)
    return tuple(
        tuple(min(1.0, max(0.0, 1.0 - next(each))) for _ in request.words) for request in requests
    )


def encode_pairs(reader: Reader[P], request: ScoreRequest, *, field: str) -> Sequence[P]:
    """Return one pair per word: question and sentence, and the same without the word.

    If a pair is too long for the model, words are removed from the front of the question, the same
    in every pair, until all pairs fit. If the sentence is too long even without the question, the
    pair of a word is that of the window around it (:func:`~scaar.core.text.windows.windows_of`),
    after the last words of the question that take at most half of what the model reads.

    Raises:
        InvalidRequest: a word alone is too long, even without the question.
    """
    whole = _with_question(reader, request.question, request.words)
    return _in_windows(reader, request, field=field) if whole is None else whole


def _in_windows(reader: Reader[P], request: ScoreRequest, *, field: str) -> Sequence[P]:
    words, question = request.words, _second_half(reader, request.question)
    found: dict[tuple[int, int], Sequence[P]] = {}

    def fits(start: int, stop: int) -> bool:
        if start == 0 and stop == len(words) > 1:
            return False  # the whole sentence was tried
        pairs = _encode(reader, question, words[start:stop])
        if pairs is None and stop - start == 1:
            pairs = _with_question(reader, question, words[start:stop])
        if pairs is not None:
            found[start, stop] = pairs
        return pairs is not None

    windows = windows_of(len(words), fits)
    if windows is None:
        raise InvalidRequest.of(
            field,
            f"must be words that fit into pairs of {reader.max_pair_tokens} tokens, each alone and "
            "without the question",
        )
    return list(
        chain.from_iterable(
            found[window.start, window.stop][
                window.first - window.start : window.last - window.start
            ]
            for window in windows
        )
    )


def _with_question(reader: Reader[P], question: str, words: tuple[str, ...]) -> Sequence[P] | None:
    """Return the pairs with as many last words of the question as fit; None if none fit."""
    if (pairs := _encode(reader, question, words)) is not None:
        return pairs
    of_question = question.split()
    kept, too_many = 0, len(of_question)
    fitting: Sequence[P] | None = None
    while kept < too_many:
        middle = (kept + too_many) // 2
        pairs = _encode(reader, " ".join(of_question[len(of_question) - middle :]), words)
        if pairs is None:
            too_many = middle
        else:
            fitting, kept = pairs, middle + 1
    return fitting


def _second_half(reader: Reader[P], question: str) -> str:
    """Return the last words of the question that take at most half of what the model reads."""
    words = question.split()
    kept, too_many = 0, len(words) + 1
    while kept + 1 < too_many:
        middle = (kept + too_many) // 2
        text = " ".join(words[len(words) - middle :])
        if len(reader.read([(text, text)])[0]) <= reader.max_pair_tokens // 2:
            kept = middle
        else:
            too_many = middle
    return " ".join(words[len(words) - kept :])


def _encode(reader: Reader[P], question: str, words: tuple[str, ...]) -> Sequence[P] | None:
    """Return the pairs of the words; None if one is too long for the model."""
    whole, altered = leave_one_out(question, words)
    # Without a question, remove the space before the first word.
    texts = [(whole.lstrip(), other.lstrip()) for other in altered]
    # Read the longest alone first: a sentence far too long is not tokenized once for every word.
    longest = max(texts, key=lambda each: len(each[1]))
    if not _fits(reader, reader.read([longest])):
        return None
    pairs = reader.read(texts)
    return pairs if _fits(reader, pairs) else None


def _fits(reader: Reader[P], pairs: Sequence[P]) -> bool:
    return max(len(pair) for pair in pairs) <= reader.max_pair_tokens
