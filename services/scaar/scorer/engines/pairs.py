"""Pairs of texts whose similarities determine the contributions of words (SCAAR Eq. 1)."""

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from scaar.core.errors import InvalidRequest
from scaar.core.loop.contribution import leave_one_out
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
        InvalidRequest: a sentence is too long for the model; the error names its position.
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
    in every pair, until all pairs fit. The sentence is never truncated.

    Raises:
        InvalidRequest: the sentence is too long even without the question.
    """
    pairs = _encode(reader, request.question, request)
    if _fits(reader, pairs):
        return pairs
    words = request.question.split()
    kept, too_many = 0, len(words)
    fitting: Sequence[P] | None = None
    while kept < too_many:
        middle = (kept + too_many) // 2
        pairs = _encode(reader, " ".join(words[len(words) - middle :]), request)
        if _fits(reader, pairs):
            fitting, kept = pairs, middle + 1
        else:
            too_many = middle
    if fitting is None:
        longest = max(len(pair) for pair in pairs)
        raise InvalidRequest.of(
            field,
            f"must make pairs of at most {reader.max_pair_tokens} tokens, not {longest}, even "
            "without the question",
        )
    return fitting


def _encode(reader: Reader[P], question: str, request: ScoreRequest) -> Sequence[P]:
    whole, altered = leave_one_out(question, request.words)
    # Without a question, remove the space before the first word.
    return reader.read([(whole.lstrip(), other.lstrip()) for other in altered])


def _fits(reader: Reader[P], pairs: Sequence[P]) -> bool:
    return max(len(pair) for pair in pairs) <= reader.max_pair_tokens
