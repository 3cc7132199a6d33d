"""The fit of a sentence filter, on the development split, and its figures on the test split."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scaar.core.errors import InvalidRequest
from scaar.core.ports import Retriever
from scaar.core.sentence_filter.features import SentenceFeatures, features_of
from scaar.core.sentence_filter.learned_filter import FeatureWeight, Labelling, LearnedFilter
from scaar.core.types import RetrieveRequest
from scaar.evaluator.records import Question
from scaar.evaluator.splits import Split, split_of
from scaar.evaluator.statistics.detection import auroc
from scaar.evaluator.statistics.regression import fit_logistic, significant
from scaar.evaluator.studies.filtering.labelling import AnswerModel, label

SPLIT_SEED = 0


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """The features of a retrieved sentence, and whether it is useful."""

    features: SentenceFeatures
    useful: bool


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with the sentences of its passages."""

    question: Question
    sentences: tuple[LabelledSentence, ...]


@dataclass(frozen=True, slots=True)
class SplitFigures:
    """What the filter keeps of the sentences of a split.

    ``precision`` is the share of kept sentences that are useful, ``recall`` the share of useful
    ones that are kept, ``fell_back`` the share of questions with whole passages; None for none.
    """

    questions: int
    sentences: int
    useful: float
    kept: float
    precision: float | None
    recall: float | None
    auroc: float | None
    fell_back: float


@dataclass(frozen=True, slots=True)
class FittedFilter:
    """A filter and its figures by split."""

    learned: LearnedFilter
    figures: Mapping[Split, SplitFigures]


def check_fit(questions: Sequence[Question], *, recall: float, top_k: int) -> None:
    """Check what a filter is fitted to.

    Raises:
        InvalidRequest: a question has no answer, or a value is out of range.
    """
    for each in questions:
        if not each.answers or not all(answer.strip() for answer in each.answers):
            text = f"question {each.id} must have an answer that is not empty"
            raise InvalidRequest.of("dataset", text)
    if not 0 < recall <= 1:
        raise InvalidRequest.of("recall", f"must be in (0, 1], not {recall:g}")
    if not 1 <= top_k <= 100:
        raise InvalidRequest.of("top_k", f"must be 1 to 100, not {top_k}")


async def label_questions(
    questions: Sequence[Question],
    retriever: Retriever,
    *,
    index: str,
    top_k: int,
    labelling: Labelling,
    model: AnswerModel | None = None,
    on_labelled: Callable[[object], object] = lambda _: None,
) -> tuple[LabelledQuestion, ...]:
    """Return the questions with the labelled sentences of one retrieval each."""
    found = []
    for question in questions:
        request = RetrieveRequest((question.question,), top_k, index)
        passages = (await retriever.retrieve(request)).results[0]
        labels = await label(labelling, question, passages, model)
        rows = zip(features_of(question.question, passages), labels, strict=True)
        sentences = tuple(
            LabelledSentence(features, useful)
            for row, useful_row in rows
            for features, useful in zip(row, useful_row, strict=True)
        )
        found.append(LabelledQuestion(question, sentences))
        on_labelled(question)
    return tuple(found)


def fit_filter(
    labelled: Sequence[LabelledQuestion], *, labelling: Labelling, recall: float
) -> FittedFilter:
    """Return the filter that is fitted to the development split.

    Its threshold is the highest that keeps at least the share ``recall`` of the useful sentences.

    Raises:
        InvalidRequest: all sentences of the development split have the same label.
    """
    splits: dict[Split, list[LabelledQuestion]] = {each: [] for each in Split}
    for each in labelled:
        splits[split_of(each.question.entity, seed=SPLIT_SEED)].append(each)
    sentences = [each for found in splits[Split.DEVELOPMENT] for each in found.sentences]
    useful = sum(each.useful for each in sentences)
    if useful in (0, len(sentences)):
        text = f"{useful} of the {len(sentences)} development sentences are useful by {labelling}"
        raise InvalidRequest.of("dataset", f"{text}: fit to more questions, or another labelling")
    fitted = fit_logistic(
        np.array([each.features.values for each in sentences]),
        np.array([float(each.useful) for each in sentences]),
    )
    rows = zip(fitted.means, fitted.scales, fitted.coefficients, strict=True)
    unbounded = LearnedFilter(
        labelling=labelling,
        threshold=1.0,
        intercept=significant(fitted.intercept),
        weights=tuple(FeatureWeight(*map(significant, row)) for row in rows),
    )
    found = (unbounded.probability(each.features) for each in sentences if each.useful)
    threshold = sorted(found, reverse=True)[math.ceil(recall * useful) - 1]
    learned = replace(unbounded, threshold=threshold)
    return FittedFilter(learned, {name: _figures(learned, of) for name, of in splits.items()})


def _figures(learned: LearnedFilter, labelled: Sequence[LabelledQuestion]) -> SplitFigures:
    truths = np.array([each.useful for found in labelled for each in found.sentences], bool)
    rows = [[learned.probability(each.features) for each in found.sentences] for found in labelled]
    probabilities = np.array([each for row in rows for each in row])
    reached = probabilities >= learned.threshold
    fell_back = [not any(each >= learned.threshold for each in row) for row in rows]
    whole = np.array([fell for fell, row in zip(fell_back, rows, strict=True) for _ in row], bool)
    kept = reached | whole
    return SplitFigures(
        questions=len(labelled),
        sentences=len(truths),
        useful=_mean(truths) or 0.0,
        kept=_mean(kept) or 0.0,
        precision=_mean(truths[kept]),
        recall=_mean(kept[truths]),
        auroc=auroc(probabilities, truths) if 0 < truths.sum() < len(truths) else None,
        fell_back=_mean(np.array(fell_back, bool)) or 0.0,
    )


def _mean(values: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> float | None:
    return float(values.mean()) if len(values) else None
