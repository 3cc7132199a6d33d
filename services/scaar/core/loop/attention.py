"""Attention to and from the words of a draft (DRAGIN Eq. 3 and section 3.2).

It is last-layer attention, averaged over heads unless stated otherwise. A word's attention is the
sum over its tokens; a token over two words counts in both.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from scaar.core.errors import ScaarError
from scaar.core.text.words import split_words, tokens_of
from scaar.core.types import AttendedWord, Attention, AttentionKind, Token, Word


def sound(attention: Attention, kind: AttentionKind = AttentionKind.MEAN_HEADS) -> Attention:
    """Return the attention, validated.

    It has a row for every token of the text, each with one weight for every token up to its own, or
    what each of these tokens receives.

    Raises:
        ScaarError: there are more or fewer weights, or one is not finite.
    """
    rows, lengths = attention.weights, range(attention.prompt_tokens + 1, len(attention.tokens) + 1)
    expected = list(lengths)
    if kind is AttentionKind.MAX_THEN_MEAN:
        rows, expected = (attention.received,), [len(lengths)]
    if [len(row) for row in rows] != expected:
        raise ScaarError("the model returned an attention whose rows do not match its tokens")
    if not all(math.isfinite(sum(row)) for row in rows):
        raise ScaarError("the model returned an attention that is not a number")
    return attention


def own_text(attention: Attention) -> str:
    """Return the text, without the prompt."""
    return "".join(token.text for token in attention.tokens[attention.prompt_tokens :])


def of_last(attention: Attention, length: int) -> Attention:
    """Return the attention that the last ``length`` characters of the text pay.

    A token that overlaps the start of these characters is split there; its first part joins the
    previous token.
    """
    tokens, given = list(attention.tokens), attention.prompt_tokens
    begin = tokens[-1].end - length if tokens else 0
    first = given
    while first < len(tokens) and tokens[first].start < begin and tokens[first].end <= begin:
        first += 1
    if 0 < first < len(tokens) and (before := begin - tokens[first].start) > 0:
        text, last = tokens[first].text, tokens[first - 1]
        tokens[first - 1] = replace(last, text=last.text + text[:before], end=begin)
        tokens[first] = replace(tokens[first], text=text[before:], start=begin)
    return Attention(tuple(tokens), first, attention.weights[first - given :])


def received(words: Sequence[Word], attention: Attention) -> tuple[float, ...]:
    """Return the attention that each word receives from later tokens, scaled to mean 1 (Eq. 3).

    A token receives the maximum that any later token pays to it, so that the last receives 0. If
    all are 0, every word has 1.
    """
    skipped, rows = attention.prompt_tokens, attention.weights
    tokens = [
        max((row[skipped + column] for row in rows[column + 1 :]), default=0.0)
        for column in range(len(rows))
    ]
    return _shares(words, _from_the_text(attention), tokens)


def received_by_tokens(words: Sequence[Word], attention: Attention) -> tuple[float, ...]:
    """Return what each word receives by the sum over its tokens, scaled to mean 1.

    The spans of words and tokens have the same origin.
    """
    return _shares(words, attention.tokens, attention.received)


def _shares(
    words: Sequence[Word], tokens: Sequence[Token], received: Sequence[float]
) -> tuple[float, ...]:
    return scaled_to_mean_one(
        [
            math.fsum(received[position] for position in positions)
            for positions in tokens_of(words, tokens)
        ]
    )


def paid(words: Sequence[Word], attention: Attention) -> tuple[float, ...]:
    """Return the largest attention that each word pays to one word of the text, scaled to mean 1.

    The attention of a word is the mean over its tokens; the attention to a word is the sum over the
    tokens of that word. Words up to and including itself count (ETC's authors' code). If all
    attention is 0, every word gets 1.
    """
    skipped, places = attention.prompt_tokens, tokens_of(words, _from_the_text(attention))
    largest = []
    for positions in places:
        rows = [attention.weights[position][skipped:] for position in positions]
        largest.append(
            max(
                math.fsum(row[at] for row in rows for at in other if at < len(row)) / len(rows)
                for other in places
            )
            if rows
            else 0.0
        )
    return scaled_to_mean_one(largest)


def scaled_to_mean_one(values: Sequence[float]) -> tuple[float, ...]:
    """Return the values divided by their mean; 1 for each if all are 0."""
    total = math.fsum(values)
    if total == 0.0:
        return (1.0,) * len(values)
    return tuple(len(values) * value / total for value in values)


def attended_from(
    word: Word, attention: Attention, *, question: str, so_far: int
) -> tuple[AttendedWord, ...]:
    """Return the words of question and answer before ``word``, with the attention to each (QFS).

    ``word`` is a word of the text, and pays the attention of its first token. The answer starts
    ``so_far`` characters before the text, and the question is its last occurrence before the
    answer; a question that is not in the prompt verbatim is omitted.
    """
    text = "".join(token.text for token in attention.tokens)
    begin = _beginning(attention)
    (positions,) = tokens_of([word], _from_the_text(attention))
    if not positions:
        return ()
    row = attention.weights[min(positions)]
    answer = max(0, begin - so_far)
    asked = text.rfind(question, 0, answer) if question else -1
    spans = [(asked, asked + len(question))] if asked >= 0 else []
    spans.append((answer, begin + word.start))
    return tuple(
        each for start, end in spans for each in _attended(text, start, end, attention, row)
    )


def attended_before(
    words: Sequence[Word], hits: Sequence[int], attention: Attention
) -> tuple[AttendedWord, ...]:
    """Return every word of a text with the attention that the words hit pay, as DRAGIN's code.

    A word pays the mean, over its tokens, of the row of the previous token, scaled to sum 1 over
    all before the word, the token that begins a text included. The words hit are averaged, and
    omitted from the result.
    """
    skipped = attention.prompt_tokens
    tokens = _from_the_text(attention)
    places, paid = tokens_of(words, tokens), [0.0] * len(tokens)
    for hit in hits:
        begin = min(places[hit], default=0)
        for position in places[hit]:
            row = attention.weights[position - 1][: skipped + begin] if position else ()
            total = math.fsum(row)
            for column, weight in enumerate(row[skipped:]):
                paid[column] += weight / total / len(places[hit]) / len(hits) if total else 0.0
    return tuple(
        AttendedWord(word.text, math.fsum(paid[position] for position in places[at]))
        for at, word in enumerate(words)
        if at not in hits
    )


def _attended(
    text: str, start: int, end: int, attention: Attention, row: Sequence[float]
) -> list[AttendedWord]:
    words = [
        replace(word, start=word.start + start, end=word.end + start)
        for word in split_words(text[start:end])
    ]
    return [
        AttendedWord(
            word.text, math.fsum(row[position] for position in positions if position < len(row))
        )
        for word, positions in zip(words, tokens_of(words, attention.tokens), strict=True)
    ]


def _beginning(attention: Attention) -> int:
    """Return the offset at which the text starts."""
    if attention.prompt_tokens < len(attention.tokens):
        return attention.tokens[attention.prompt_tokens].start
    return attention.tokens[-1].end if attention.tokens else 0


def _from_the_text(attention: Attention) -> list[Token]:
    """Return the tokens of the text, with spans from the start of the text."""
    begin = _beginning(attention)
    return [
        replace(token, start=token.start - begin, end=token.end - begin)
        for token in attention.tokens[attention.prompt_tokens :]
    ]
