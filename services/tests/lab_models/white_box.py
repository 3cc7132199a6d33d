"""Values of a whole text from one run of the lab's language model, and what follows from them.

Nothing here goes by the triggers, the queries by attention or the engines: the graph is run over a
text from nothing, and words get their tokens by comparing every word with every token.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from scaar.core.text.word_classes import WordClass, word_classes
from scaar.lab.models import LAB_LM, model_folder

Array = np.ndarray[Any, Any]
Span = tuple[int, int]


class Graph:
    """The lab's language model as its files have it."""

    def __init__(self) -> None:
        folder = model_folder(LAB_LM)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    def read(self, before: str, text: str) -> "Read":
        """The text after what stands before it, and the token that begins that."""
        ids = self._tokenizer.encode(before + text).ids
        pieces = [self._tokenizer.decode([each]) for each in ids]
        assert "".join(pieces) == before + text, "a text of whole characters a token"
        empty = {
            each.name: np.zeros((1, each.shape[1], 0, each.shape[3]), np.float32)
            for each in self._session.get_inputs()
            if each.name.startswith("past_key_values.")
        }
        simple = {
            "input_ids": np.array([ids]),
            "attention_mask": np.ones((1, len(ids)), np.int64),
            "position_ids": np.arange(len(ids))[None],
        }
        expected = {each.name for each in self._session.get_inputs()}
        fed = {name: value for name, value in simple.items() if name in expected} | empty
        logits, attention = self._session.run(["logits", "last_attention"], fed)
        return Read(before, text, ids, pieces, logits[0], attention[0])


@dataclass(frozen=True)
class Read:
    """A text as the model reads it after another: its tokens, and all that they pay."""

    before: str
    text: str
    ids: list[int]
    pieces: list[str]
    logits: Array
    heads: Array
    """What each token [row] pays to each [column] in each head."""

    @cached_property
    def paid(self) -> Array:
        """What each token [row] pays to each [column], averaged over heads."""
        averaged: Array = self.heads.mean(axis=0, dtype=float)
        return averaged

    @cached_property
    def spans(self) -> list[Span]:
        """Of every token, from where the text begins."""
        ends = np.cumsum([len(piece) for piece in self.pieces]) - len(self.before)
        return [
            (int(end) - len(piece), int(end)) for end, piece in zip(ends, self.pieces, strict=True)
        ]

    @cached_property
    def tokens(self) -> list[int]:
        """The positions of the text's own tokens."""
        return [at for at, (start, end) in enumerate(self.spans) if end > 0 and end > start]

    @cached_property
    def words(self) -> list[Span]:
        return words_in(self.text)

    @cached_property
    def token_entropies(self) -> Array:
        """Of the distribution that each token of the text was taken from, in nats."""
        probabilities = np.exp(self._logprobs)
        return -(probabilities * self._logprobs).sum(axis=1)

    @cached_property
    def token_logprobs(self) -> Array:
        rows = range(len(self.tokens))
        return self._logprobs[rows, [self.ids[at] for at in self.tokens]]

    @cached_property
    def _logprobs(self) -> Array:
        scores = self.logits[[at - 1 for at in self.tokens]].astype(float)
        scores -= scores.max(axis=1, keepdims=True)
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    def tokens_in(self, span: Span) -> list[int]:
        """The positions of the tokens that a span shares a character with."""
        return [
            at for at, (start, end) in enumerate(self.spans) if start < span[1] and end > span[0]
        ]

    def of_words(self, values: Array) -> list[Array]:
        """The values of every word's tokens, from those of the text's tokens."""
        place = {at: number for number, at in enumerate(self.tokens)}
        return [values[[place[at] for at in self.tokens_in(word)]] for word in self.words]

    def shares(self, words: int | None = None) -> Array:
        """The maximum attention of later tokens to each word, scaled to mean 1 (DRAGIN Eq. 3).

        ``words`` is the number of the first words whose shares are meant; all by default.
        """
        square = self.paid[np.ix_(self.tokens, self.tokens)]
        later = np.tril(square, -1).max(axis=0)
        summed = np.array([values.sum() for values in self.of_words(later)])[:words]
        return summed / summed.mean() if summed.sum() else np.ones_like(summed)

    def paid_shares(self) -> Array:
        """The maximum attention of each word to another, scaled to mean 1 (ETC's code)."""
        square = np.tril(self.paid[np.ix_(self.tokens, self.tokens)])
        place = {at: number for number, at in enumerate(self.tokens)}
        members = np.zeros((len(self.words), len(self.tokens)))
        for number, word in enumerate(self.words):
            members[number, [place[at] for at in self.tokens_in(word)]] = 1.0
        between = (members / members.sum(axis=1, keepdims=True)) @ square @ members.T
        most = between.max(axis=1)
        return most / most.mean()

    @property
    def mean_entropies(self) -> Array:
        return np.array([values.mean() for values in self.of_words(self.token_entropies)])

    @property
    def largest_entropies(self) -> Array:
        return np.array([values.max() for values in self.of_words(self.token_entropies)])

    @property
    def probabilities(self) -> Array:
        return np.exp([values.mean() for values in self.of_words(self.token_logprobs)])

    @property
    def classes(self) -> list[WordClass]:
        return list(word_classes([self.text[start:end] for start, end in self.words]))

    def paid_from(self, word: Span, spans: Sequence[Span]) -> list[tuple[str, float]]:
        """What the first token of a word pays to the words that begin in spans of all the text."""
        row = self.paid[self.tokens_in(word)[0]]
        found = []
        whole = self.before + self.text
        for start, end in spans:
            for first, last in words_in(whole[start:end]):
                place = (first + start - len(self.before), last + start - len(self.before))
                found.append((whole[start:end][first:last], row[self.tokens_in(place)].sum()))
        return found


def words_in(text: str) -> list[Span]:
    found, end = [], 0
    for word in text.split():
        start = text.index(word, end)
        end = start + len(word)
        found.append((start, end))
    return found


def trends(entropies: Sequence[float], *, least_weight: float = 0.0) -> list[float]:
    """M_t of ETC from the third entropy on; the weight of d2_t is at least ``least_weight``."""
    seconds = [float(each) for each in np.diff(entropies, 2)]
    found = []
    for t, second in enumerate(seconds):
        mean = math.fsum(seconds[: t + 1]) / (t + 1)
        before = seconds[t - 1] if t else 0.0
        apart = abs(second - mean) + abs(before - mean)
        weight = abs(before - mean) / apart if apart else 0.0
        a = least_weight + (1 - least_weight) * weight
        found.append(a * second + (1 - a) * before)
    return found


def most_paid(words: Sequence[tuple[str, float]], count: int) -> list[str]:
    """The ``count`` words paid most, in their order."""
    best = np.argsort([-paid for _, paid in words], kind="stable")[:count]
    return [words[at][0] for at in sorted(best)]
