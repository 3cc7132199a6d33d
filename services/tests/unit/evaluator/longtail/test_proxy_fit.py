from dataclasses import replace

import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.gates.word_statistics import WordStatistics
from scaar.evaluator.records import Question
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.studies.longtail.gece import Variant
from scaar.evaluator.studies.longtail.proxy_fit import (
    describe_fit,
    fit_proxy,
    most_frequent,
)
from scaar.evaluator.studies.longtail.records import Label, Labelling, Parts

WORDS = WordStatistics("a list", {"who": 0.5, "known": 0.2, "rare": 0.001}, 0.0001)
LABELLING = Labelling(
    *("1.0", "2030-01-01T00:00:00+00:00", DatasetOrigin("jsonl", "q.jsonl", 0, 40, "c0ffee")),
    *("lm", "1", "lab@1", "a list", ("w",), 0.25),
)


def labelled(number: int, *, long_tail: bool, confidence: float) -> tuple[Question, Label]:
    text = "Who rare?" if long_tail else "Who known?"
    question = Question(f"q{number}", text, ("Ada",), f"e{number}")
    return question, Label(
        *(question.id, text, "Ada", "Ada", Parts(0.5, 0.5, 0.1, 1.0), confidence, 0.1, 0.1, 1.0),
        rank=number + 1,
        long_tail=long_tail,
        without_statistics=1,
        without_semantics=1,
    )


LABELLED = [
    labelled(number, long_tail=number % 4 == 0, confidence=0.5 + 0.01 * (number % 7))
    for number in range(40)
]
QUESTIONS, LABELS = [each for each, _ in LABELLED], [each for _, each in LABELLED]


def test_a_proxy_of_labels_that_words_part_finds_them_on_the_other_half() -> None:
    fitted = fit_proxy(LABELLING, QUESTIONS, LABELS, WORDS, seed=0)
    assert (fitted.precision, fitted.auroc) == (1.0, 1.0)
    assert fitted.development + fitted.test == 40
    proxy = fitted.proxy
    assert 0 < proxy.threshold < 1
    rare, known = (
        proxy.probability(proxy.evidence(text, ())) for text in ("Who rare?", "Who known?")
    )
    assert rare > known


def test_the_requested_label_is_learned() -> None:
    others = [
        replace(each, without_semantics=rank) for rank, each in enumerate(reversed(LABELS), 1)
    ]
    fitted = fit_proxy(LABELLING, QUESTIONS, others, WORDS, seed=0, by=Variant.WITHOUT_SEMANTICS)
    assert (
        fitted.proxy.weights != fit_proxy(LABELLING, QUESTIONS, LABELS, WORDS, seed=0).proxy.weights
    )
    message = describe_fit(LABELLING, fitted, Variant.WITHOUT_SEMANTICS)
    assert message["labels by"] == "without_semantics"


def test_labels_of_one_kind_teach_nothing_and_are_refused() -> None:
    common = [pair for pair in LABELLED if not pair[1].long_tail]
    with pytest.raises(InvalidRequest, match="labels: all or none of its"):
        fit_proxy(LABELLING, *zip(*common, strict=True), WORDS, seed=0)  # type: ignore[arg-type]


def test_the_most_frequent_words_are_kept_and_ties_are_ordered_by_word() -> None:
    words = WordStatistics("a list", {"b": 0.1, "a": 0.1, "c": 0.3}, 0.01)
    assert most_frequent(words, max_words=2).frequencies == {"c": 0.3, "a": 0.1}
    assert most_frequent(words, max_words=3) is words
