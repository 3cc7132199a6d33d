"""Features of questions that are known before an answer, and of the drafts without passages."""

import math
import re
from collections.abc import Sequence

import numpy as np

from scaar.core.gates.word_statistics import WordStatistics, words_counted
from scaar.core.text.sentences import split_sentences
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.studies.gates.answered import AnsweredQuestion

ASKED = ("who", "what", "which", "when", "where", "how", "why")
"""Words that ask, of which a question has one feature each."""
COMPARING = frozenset("or both same older younger first earlier later longer more between".split())
"""Words of comparisons."""
HEDGING = frozenset("cannot maybe no not perhaps possibly unable unclear unknown".split())
"""Words with which a model says that it does not know."""
_NAME = re.compile(r"[A-Z][\w.'-]*(?:\s+[A-Z][\w.'-]*)*")


def question_features(questions: Sequence[str]) -> Floats:
    """Return the features of questions: lengths, names, numbers, relations and kinds of question.

    Per question: words, characters per word, names and their words, digits, "of" and possessives,
    the words of :data:`ASKED`, whether it compares, and whether it starts with a verb.
    """
    return np.array([_of_question(each) for each in questions])


def _of_question(question: str) -> list[float]:
    words = words_counted(question)
    names = _NAME.findall(question.partition(" ")[2])
    return [
        len(words),
        sum(map(len, words)) / max(1, len(words)),
        len(names),
        sum(len(each.split()) for each in names),
        sum(map(str.isdigit, question)),
        words.count("of") + question.count("'s"),
        *(float(each in words) for each in ASKED),
        float(not COMPARING.isdisjoint(words)),
        float(words[:1] != [] and words[0] in ("is", "are", "was", "were", "do", "does", "did")),
    ]


def frequency_features(questions: Sequence[str], statistics: WordStatistics) -> Floats:
    """Return the logarithms of the mean frequency of the words and of the rarest word."""
    return np.array(
        [
            [math.log(statistics.average(each)), math.log(statistics.rarest(each))]
            for each in questions
        ]
    )


def draft_features(answered: Sequence[AnsweredQuestion]) -> Floats:
    """Return the features of what the model wrote without passages.

    Per question: the words of the short answer and of the chain of thought, the sentences of the
    latter, its names that are not in the question, and its words of :data:`HEDGING`.
    """
    return np.array([_of_draft(each) for each in answered])


def _of_draft(answered: AnsweredQuestion) -> list[float]:
    words = words_counted(answered.thoughts)
    asked = set(words_counted(answered.question.question))
    names = _NAME.findall(answered.thoughts)
    return [
        len(words_counted(answered.answer)),
        len(words),
        len(split_sentences(answered.thoughts)),
        sum(asked.isdisjoint(words_counted(each)) for each in names),
        sum(each in HEDGING for each in words),
    ]
