"""The pairs whose likeness tells the contributions of a sentence's words (SCAAR Eq. 1)."""

from scaar.core.contribution import leave_one_out
from scaar.core.errors import InvalidRequest
from scaar.core.types import ScoreRequest
from scaar.scorer.engines.cross_encoder import CrossEncoder, TokenPair


def encode_pairs(model: CrossEncoder, request: ScoreRequest, *, field: str) -> list[TokenPair]:
    """One pair a word: question and sentence, and the same without the word.

    A question that is too long for the model loses words from its front, the farthest from the
    sentence, the same in every pair, until all pairs fit. The sentence is never cut.

    Raises:
        InvalidRequest: the sentence does not fit even without the question.
    """
    pairs = _encode(model, request.question, request)
    if _fits(model, pairs):
        return pairs
    words = request.question.split()
    kept, too_many = 0, len(words)
    fitting: list[TokenPair] | None = None
    while kept < too_many:
        middle = (kept + too_many) // 2
        pairs = _encode(model, " ".join(words[len(words) - middle :]), request)
        if _fits(model, pairs):
            fitting, kept = pairs, middle + 1
        else:
            too_many = middle
    if fitting is None:
        longest = max(len(pair) for pair in pairs)
        raise InvalidRequest.of(
            field,
            f"must make pairs of at most {model.max_pair_tokens} tokens, not {longest}, even "
            "without the question",
        )
    return fitting


def _encode(model: CrossEncoder, question: str, request: ScoreRequest) -> list[TokenPair]:
    whole, altered = leave_one_out(question, request.words)
    # Without a question no space stands before the first word.
    encoded = model.encode([(whole.lstrip(), other.lstrip()) for other in altered])
    return [TokenPair(tuple(pair.ids), tuple(pair.type_ids)) for pair in encoded]


def _fits(model: CrossEncoder, pairs: list[TokenPair]) -> bool:
    return max(len(pair) for pair in pairs) <= model.max_pair_tokens
