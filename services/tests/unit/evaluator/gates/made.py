"""Answered questions whose outcome follows from their words."""

from collections.abc import Sequence

import numpy as np

from scaar.core.gates.word_statistics import WordStatistics
from scaar.evaluator.records import Question
from scaar.evaluator.studies.gates.answered import CORRECT, QUALITY, AnsweredQuestion

WORDS = WordStatistics("a list", {"known": 0.1, "film": 0.01}, 1e-6)
KINDS = ("known", "obscure", "misleading")
"""Retrieval changes nothing for known films, helps with obscure ones, and harms with others."""


def scores(right: bool) -> dict[str, float]:
    return {CORRECT: float(right), QUALITY: float(right)}


def answered(
    number: int,
    kind: str,
    *,
    dataset: str = "made",
    supports: Sequence[str] = (),
    hedges: bool = False,
) -> AnsweredQuestion:
    """Return a question of a kind; ``hedges`` says whether the draft does."""
    text = f"Who made the {kind} film {number}?"
    return AnsweredQuestion(
        dataset=dataset,
        question=Question(
            f"q{number}", text, ("Ann",), entity=f"q{number}", supports=tuple(supports)
        ),
        without=scores(kind != "obscure"),
        retrieved=scores(kind != "misleading"),
        answer="Ann",
        thoughts=f"Ann made it{', perhaps' if hedges else ''}. So the answer is: Ann.",
    )


def sample_questions(
    count: int = 120, *, dataset: str = "made", noisy: bool = False, seed: int = 0
) -> list[AnsweredQuestion]:
    """Return questions of random kinds; of a noisy sample, the kind is not in the question."""
    random = np.random.default_rng(seed)
    found = []
    for number in range(count):
        kind, shown = (KINDS[each] for each in random.integers(3, size=2))
        each = answered(number, kind, dataset=dataset, hedges=kind == "obscure")
        if noisy:
            other = answered(number, shown, dataset=dataset, hedges=bool(random.integers(2)))
            each = AnsweredQuestion(
                dataset, other.question, each.without, each.retrieved, "Ann", other.thoughts
            )
        found.append(each)
    return found


def vectors(questions: Sequence[AnsweredQuestion]) -> np.ndarray:
    """Return a vector for each question: its kind, as its words say."""
    found = np.zeros((len(questions), len(KINDS)), np.float32)
    for row, each in zip(found, questions, strict=True):
        row[[each.question.question.split()[3] == kind for kind in KINDS]] = 1
    return found
