"""The learned sentence filter of FILCO (Wang et al., arXiv 2311.08377).

A logistic model of the probability p that a sentence is useful, over its features x:

    p = 1 / (1 + exp(-(intercept + sum of coefficient_i * (x_i - mean_i) / scale_i)))

A sentence is kept if p is at least the threshold. If none is, the whole passages are used, as in
the authors' code. The authors fine-tune a language model that writes the kept text instead.
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scaar.core.gates.proxy import logistic
from scaar.core.sentence_filter.features import (
    FEATURES,
    SentenceFeatures,
    features_of,
    sentences_of,
)
from scaar.core.types import (
    FilteredPassage,
    FilteredSentence,
    PassagesFiltered,
    RetrievedPassage,
)


class Labelling(enum.StrEnum):
    """What makes a sentence useful in the questions that a filter is fitted on."""

    STRINC = "strinc"
    """It contains a correct answer."""
    LEXICAL = "lexical"
    """Of its passage, it overlaps most with question and answer."""
    CXMI = "cxmi"
    """Of its passage, it makes the answer more probable than any other."""


@dataclass(frozen=True, slots=True)
class FeatureWeight:
    """The coefficient of a feature after it is scaled; the scale is above 0."""

    mean: float
    scale: float
    coefficient: float


@dataclass(frozen=True, slots=True)
class LearnedFilter:
    """The fitted filter; ``weights`` are in the order of ``FEATURES``.

    ``digest`` is the SHA-256 of the other fields of its file.
    """

    labelling: Labelling
    threshold: float
    intercept: float
    weights: tuple[FeatureWeight, ...]
    digest: str = ""

    @property
    def by_feature(self) -> Mapping[str, FeatureWeight]:
        """The weights by the names of their features."""
        return dict(zip(FEATURES, self.weights, strict=True))

    def probability(self, features: SentenceFeatures) -> float:
        """Return the probability that a sentence is useful."""
        pairs = zip(self.weights, features.values, strict=True)
        return logistic(
            self.intercept
            + sum(each.coefficient * (value - each.mean) / each.scale for each, value in pairs)
        )

    def filter(
        self, sentence: int, question: str, passages: Sequence[RetrievedPassage]
    ) -> tuple[PassagesFiltered, tuple[RetrievedPassage, ...]]:
        """Return what is kept of the passages, and the passages for the prompt.

        ``sentence`` is the number of the sentence of the answer. A passage for the prompt has the
        kept sentences as its text; those without one are left out.
        """
        probabilities = [
            [self.probability(each) for each in row] for row in features_of(question, passages)
        ]
        fell_back = not any(each >= self.threshold for row in probabilities for each in row)
        found = tuple(
            FilteredPassage(
                passage.id,
                tuple(
                    FilteredSentence(text, each, fell_back or each >= self.threshold)
                    for text, each in zip(sentences_of(passage), row, strict=True)
                ),
            )
            for passage, row in zip(passages, probabilities, strict=True)
        )
        event = PassagesFiltered(sentence, found, self.threshold, fell_back)
        if fell_back:
            return event, tuple(passages)
        texts = [
            " ".join(each.text for each in passage.sentences if each.kept) for passage in found
        ]
        pairs = zip(passages, texts, strict=True)
        return event, tuple(replace(passage, text=text) for passage, text in pairs if text)
