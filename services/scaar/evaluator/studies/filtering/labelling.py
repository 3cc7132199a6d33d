"""Useful sentences of retrieved passages, by the three labellings of FILCO (arXiv 2311.08377).

- ``strinc``: every sentence that contains a correct answer, regardless of case.
- ``lexical``: the sentence of each passage with the highest F1 over words with question and answer,
  if it is at least 0.5.
- ``cxmi``: the sentence of each passage that adds most to the log-probability of the first answer,
  if it adds to it.

The selection of one sentence of each passage is that of the authors' code (zorazrw/filco). The code
compares a sentence with the answer alone, by the characters that they share, without a minimum.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scaar.core.errors import InvalidRequest
from scaar.core.measures.f1 import f1
from scaar.core.ports import Generator
from scaar.core.prompts import PromptProfile
from scaar.core.sentence_filter.features import sentences_of
from scaar.core.sentence_filter.learned_filter import Labelling
from scaar.core.types import LogprobsRequest, RetrievedPassage
from scaar.evaluator.records import Question

MIN_F1 = 0.5
"""The lowest F1 of a useful sentence."""

Labels = tuple[tuple[bool, ...], ...]
"""Whether each sentence of each passage is useful."""


@dataclass(frozen=True, slots=True)
class AnswerModel:
    """A language model that returns the log-probabilities of given answers."""

    generator: Generator
    profile: PromptProfile

    async def logprob(
        self, question: str, answer: str, passages: Sequence[RetrievedPassage] = ()
    ) -> float:
        """Return the log-probability, in nats, of the answer after the conclusion's phrase."""
        prompt = self.profile.render(question, passages) + self.profile.forcing_phrase
        found = await self.generator.compute_logprobs(LogprobsRequest(prompt, f" {answer}"))
        return sum(token.logprob or 0.0 for token in found.tokens)


async def label(
    labelling: Labelling,
    question: Question,
    passages: Sequence[RetrievedPassage],
    model: AnswerModel | None = None,
) -> Labels:
    """Return which sentences of the passages are useful for the question.

    Raises:
        InvalidRequest: ``cxmi`` has no model.
    """
    match labelling:
        case Labelling.STRINC:
            return tuple(
                tuple(contains_answer(each, question.answers) for each in sentences_of(passage))
                for passage in passages
            )
        case Labelling.LEXICAL:
            expected = [f"{question.question} {answer}" for answer in question.answers]
            return tuple(
                _best([f1(each, expected) - MIN_F1 for each in sentences_of(passage)])
                for passage in passages
            )
        case Labelling.CXMI:
            if model is None:
                raise InvalidRequest.of("labelling", "cxmi needs a language model")
            return await _by_cxmi(question, passages, model)


def contains_answer(sentence: str, answers: Sequence[str]) -> bool:
    """Return whether the sentence contains an answer, regardless of case."""
    return any(answer.lower() in sentence.lower() for answer in answers)


async def _by_cxmi(
    question: Question, passages: Sequence[RetrievedPassage], model: AnswerModel
) -> Labels:
    asked, answer = question.question, question.answers[0]
    alone = await model.logprob(asked, answer)
    rows = []
    for passage in passages:
        given = [
            await model.logprob(asked, answer, [replace(passage, text=each)])
            for each in sentences_of(passage)
        ]
        rows.append(_best([each - alone for each in given], above=True))
    return tuple(rows)


def _best(scores: Sequence[float], *, above: bool = False) -> tuple[bool, ...]:
    """Return which score is the first largest, if it is at least 0; with ``above``, above 0."""
    if not scores or (largest := max(scores)) < 0 or (above and largest == 0):
        return (False,) * len(scores)
    best = scores.index(largest)
    return tuple(at == best for at in range(len(scores)))
