"""Texts of golden pairs: every word of some short sentences, and pairs of every length."""

from collections.abc import Iterator

from scaar.core.loop.contribution import leave_one_out
from scaar.encoders.cross_encoder import CrossEncoder
from scaar.scorer.triton_repository.golden import GoldenPair

_SHORT = (
    ("Where was Ada Lovelace born?", "Ada Lovelace was born in London."),
    ("Who directed the film?", "The film was directed by a man from Oslo, in 1931."),
    ("Wer schrieb »Faust«?", "Göthe schrieb es."),
)
_FILLER = "It was said that the old house by the river had been sold twice before the war ended."


def golden_pairs(model: CrossEncoder, widths: tuple[int, ...]) -> tuple[GoldenPair, ...]:
    """Return pairs of every width with the model's logits. Blocks."""
    texts = [pair for question, sentence in _SHORT for pair in _pairs(question, sentence)]
    texts += [pair for width in widths for pair in _of_width(model, width)]
    encoded = model.encode(texts)
    fitting = [
        (pair, tokens)
        for pair, tokens in zip(texts, encoded, strict=True)
        if len(tokens.ids) <= model.max_pair_tokens
    ]
    return tuple(
        GoldenPair(
            first=first,
            second=second,
            input_ids=tuple(tokens.ids),
            token_type_ids=tuple(tokens.type_ids),
            logit=float(model.logits([tokens])[0, 0]),
        )
        for (first, second), tokens in fitting
    )


def _pairs(question: str, sentence: str) -> Iterator[tuple[str, str]]:
    whole, altered = leave_one_out(question, sentence.split())
    return ((whole, other) for other in altered)


def _of_width(model: CrossEncoder, width: int) -> list[tuple[str, str]]:
    """Return three pairs of the maximum length that fits the width."""
    words = (_FILLER + " ") * (width // 8)
    question, sentence = words.split(), _SHORT[0][1]
    low, high = 0, len(question)
    while low < high:
        middle = (low + high + 1) // 2
        pairs = list(_pairs(" ".join(question[:middle]), sentence))
        if max(len(each.ids) for each in model.encode(pairs)) <= width:
            low = middle
        else:
            high = middle - 1
    return list(_pairs(" ".join(question[:low]), sentence))[:3] if low else []
