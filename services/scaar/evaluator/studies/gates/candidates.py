"""The gates of a comparison, and those that answers alone cannot serve, with the reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scaar.core.gates.adaptive_rag import question_features as words_of
from scaar.core.gates.word_statistics import WordStatistics
from scaar.encoders.pooling import Array
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.studies.gates.features import (
    draft_features,
    frequency_features,
    question_features,
)
from scaar.evaluator.studies.gates.learners import Learner, LogisticLearner, SkrLearner
from scaar.evaluator.studies.gates.sample import GateSample
from scaar.evaluator.studies.gates.target import Target

BOTH = tuple(Target)


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """A gate by its name, with the targets that it can be trained on."""

    name: str
    targets: tuple[Target, ...]
    learner: Learner


DESCRIPTIONS: Mapping[str, str] = {
    "skr": "votes of the nearest labelled questions (Wang et al., 2023)",
    "adaptive_rag": "two classes by the words of the question (Jeong et al., 2024)",
    "question_features": "lengths, names, numbers and kind of the question",
    "word_frequency": "mean frequency of the words, and frequency of the rarest",
    "sentence_vector": "the question's vector",
    "combination": "question features, frequencies and the scores of the gates that use words or "
    "vectors",
    "chain_of_thought": "lengths, names and hedges of the answer that the model wrote without "
    "passages; the question is drafted first",
    "combination_and_chain": "all of the combination and of the chain of thought",
}
"""What each gate judges a question by."""

UNAVAILABLE: Mapping[str, str] = {
    "gece_proxy": "log-probabilities of a drafted sentence",
    "targ": "log-probabilities of a draft, or samples",
    "dtr": "log-probabilities of the answer",
    "p_correct": "a score of log-probabilities to calibrate",
    "p_true, verbalised": "further calls of the model",
    "lexsim": "several sampled answers",
    "probe, seakr": "hidden states of the model",
    "quco": "counts in a corpus that is like the model's training text",
    "adaptive_rag with three classes": "answers with several retrievals",
    "SKR by prompt, in-context or fine-tuned classifier": "calls or training of a model",
}
"""Gates that cannot be trained or tested on these answers, and what is missing."""


def gates_of(sample: GateSample, vectors: Array, words: WordStatistics) -> tuple[Gate, ...]:
    """Return the gates of a sample; ``vectors`` are those of its questions."""
    questions = [each.question for each in sample.questions]
    encoded = vectors.astype(np.float64)
    asked = question_features(questions)
    frequencies = frequency_features(questions, words)
    plain = np.column_stack([asked, frequencies])
    stacked = ("skr", "adaptive_rag", "sentence_vector")
    gates = [
        Gate("skr", (Target.BENEFIT,), SkrLearner(encoded)),
        Gate("adaptive_rag", (Target.WRONG,), LogisticLearner(_word_features(questions))),
        Gate("question_features", BOTH, LogisticLearner(asked)),
        Gate("word_frequency", BOTH, LogisticLearner(frequencies)),
        Gate("sentence_vector", BOTH, LogisticLearner(encoded)),
        Gate("combination", BOTH, LogisticLearner(plain, stacked)),
    ]
    if all(each.thoughts for each in sample.answered):
        drafts = draft_features(sample.answered)
        both = np.column_stack([plain, drafts])
        gates += [
            Gate("chain_of_thought", BOTH, LogisticLearner(drafts)),
            Gate("combination_and_chain", BOTH, LogisticLearner(both, stacked)),
        ]
    return tuple(gates)


def _word_features(questions: Sequence[str]) -> Floats:
    """Return the features of Adaptive-RAG's router: one column for each of its features."""
    found = [words_of(each) for each in questions]
    columns = {name: at for at, name in enumerate(sorted({x for each in found for x in each}))}
    values = np.zeros((len(found), len(columns)))
    for row, each in zip(values, found, strict=True):
        for name, value in each.items():
            row[columns[name]] = value
    return values
