"""Words of a text, their tokens, and their probabilities (SCAAR Eq. 4, 5)."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeGuard

from scaar.core.text.scripts import HAN, HIRAGANA, KATAKANA, SPACELESS
from scaar.core.types import Token, Word

NO_LOGPROB = -9999.0
"""Servers report a log-probability at or below this value if they have none."""

_OPENERS = re.escape("\"'“‘«([{<「『（【《〈")
_WORD = re.compile(r"\S+")
_HAS_SPACELESS = re.compile(f"[{SPACELESS}]")
# A word with the marks around it: an ideograph or Hiragana character, or a run of Katakana or of
# other characters.
_SPACELESS_WORD = re.compile(
    rf"[{_OPENERS}]*(?:[{HAN}{HIRAGANA}]|[{KATAKANA}]+|[^\s{_OPENERS}{SPACELESS}]+|\Z)"
    rf"[^\w\s{_OPENERS}]*"
)
_BESIDE_NO_SPACE = re.compile(rf"[{SPACELESS}\u3001-\u301f\uff01-\uff65]")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_POSSESSIVE = re.compile(r"['’]s$")


def split_words(text: str) -> tuple[Word, ...]:
    """Return the words of a text with their spans.

    A word is a maximal run of non-space characters (``str.isspace``). Where such a run has Chinese
    or Japanese characters, each ideograph, each Hiragana character and each run of Katakana or of
    other characters is a word, with the punctuation around it, as in the retriever's analysis.
    """
    return tuple(Word(text[start:end], start, end) for start, end in _word_spans(text))


def _word_spans(text: str) -> Iterator[tuple[int, int]]:
    for run in _WORD.finditer(text):
        if _HAS_SPACELESS.search(run[0]) is None:
            yield run.span()
            continue
        at = run.start()
        while at < run.end():
            found = _SPACELESS_WORD.match(text, at, run.end())
            assert found is not None
            yield found.span()
            at = found.end()


def join_words(words: Iterable[str]) -> str:
    """Return words as a text, with spaces except beside Chinese and Japanese characters."""
    parts: list[str] = []
    for word in words:
        if parts and not (_without_space(parts[-1][-1:]) or _without_space(word[:1])):
            parts.append(" ")
        parts.append(word)
    return "".join(parts)


def _without_space(character: str) -> bool:
    return _BESIDE_NO_SPACE.match(character) is not None


def split_tokens(text: str, tokens: Sequence[Token]) -> tuple[Word, ...]:
    """Return the text of each token as a word, without surrounding white space."""
    return tuple(
        Word(match[0], token.start + match.start(), token.start + match.end())
        for token in tokens
        if (match := re.search(r"\S(?:.*\S)?", text[token.start : token.end], re.DOTALL))
    )


def tokens_of(words: Sequence[Word], tokens: Sequence[Token]) -> tuple[tuple[int, ...], ...]:
    """Return the positions of the tokens of every word.

    The tokens of a word are those whose spans overlap the word, so that a token over two words
    counts for both, and a token of white space for none. A token of zero width belongs to the next
    token with a width, at the end to the last one. Words and tokens are in text order, with spans
    of the same text.
    """
    spans = list(_spans(tokens))
    found: list[tuple[int, ...]] = []
    first = 0
    for word in words:
        while first < len(spans) and spans[first][1] <= word.start:
            first += 1
        last = first
        while last < len(spans) and spans[last][0] < word.end:
            last += 1
        found.append(tuple(position for _, _, position in spans[first:last]))
    return tuple(found)


def word_probabilities(words: Sequence[Word], tokens: Sequence[Token]) -> tuple[float | None, ...]:
    """Return P' of every word: the geometric mean of the probabilities of its tokens (SCAAR Eq. 5).

    None if the log-probability of a token is missing, or if no token covers the word.
    """
    return tuple(
        geometric_mean([tokens[position].logprob for position in positions])
        for positions in tokens_of(words, tokens)
    )


def geometric_mean(logprobs: Sequence[float | None]) -> float | None:
    """Return the geometric mean of the probabilities; None if one is missing or there are none."""
    known = [logprob for logprob in logprobs if _is_known(logprob)]
    if not known or len(known) < len(logprobs):
        return None
    # Rounding can leave a log-probability slightly above 0.
    return math.exp(min(0.0, math.fsum(known) / len(known)))


def bare_word(word: str) -> str:
    """Return a word in lower case, without surrounding punctuation and possessive ending."""
    return cased_word(word.casefold())


def cased_word(word: str) -> str:
    """Return a word without surrounding punctuation and possessive ending."""
    return _POSSESSIVE.sub("", _EDGES.sub("", word)) or word


def surprisals(tokens: Sequence[Token]) -> tuple[float, ...] | None:
    """Return -ln p of every token, in nats; None if a log-probability is missing."""
    return surprisals_of([token.logprob for token in tokens])


def surprisals_of(logprobs: Sequence[float | None]) -> tuple[float, ...] | None:
    """Return -ln p of every log-probability, in nats; None if one is missing."""
    known = [logprob for logprob in logprobs if _is_known(logprob)]
    if len(known) < len(logprobs):
        return None
    return tuple(max(0.0, -logprob) for logprob in known)


def _spans(tokens: Sequence[Token]) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and position of every token; zero-width ones have their owner's span."""
    partial: list[int] = []
    start, end = 0, 0
    for position, token in enumerate(tokens):
        if token.end <= token.start:
            partial.append(position)
            continue
        start, end = token.start, token.end
        for each in (*partial, position):
            yield start, end, each
        partial.clear()
    if end > start:
        for each in partial:
            yield start, end, each


def _is_known(logprob: float | None) -> TypeGuard[float]:
    return logprob is not None and not math.isnan(logprob) and logprob > NO_LOGPROB
