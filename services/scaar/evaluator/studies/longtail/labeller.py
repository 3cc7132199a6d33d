"""The labelling of a data set in a folder, in two passes that can be resumed.

The first pass answers every question without retrieval and sums the gradients; the second computes
the product of each gradient with their mean. No gradient is stored, so each is computed twice.
"""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path

from scaar.core.errors import InvalidRequest, ScaarError, StreamIncomplete, Violation
from scaar.core.gates.proxy import mean_probability
from scaar.core.gates.word_statistics import WordStatistics
from scaar.core.ports import Answerer
from scaar.core.prompts import profile_of
from scaar.core.types import AnswerFinished, AnswerRequest, Token, TokenDrafted
from scaar.evaluator.execution.progress import NoProgress, RunProgress
from scaar.evaluator.measures.meteor import meteor_exact_stem
from scaar.evaluator.records import Question
from scaar.evaluator.store.database.studies import StudyStore, open_study
from scaar.evaluator.store.files import write_whole
from scaar.evaluator.store.studies import lines_of, read_study
from scaar.evaluator.studies.longtail.folder import (
    ANSWERED,
    LABELLING,
    LABELS,
    LABELS_FILE,
    MEAN,
    PRODUCTS,
)
from scaar.evaluator.studies.longtail.gece import Variant, count_of, gece, ranks
from scaar.evaluator.studies.longtail.gradients import Gradient, GradientModel, MeanGradient
from scaar.evaluator.studies.longtail.records import Answered, Label, Labelling, Parts, Product

SAVE_EVERY = 50
"""Number of gradients after which their sum is saved."""


@dataclass(frozen=True, slots=True)
class Labeller:
    """The parts of a labelling; ``template`` is the request of each question, ``no_retrieval``."""

    answerer: Answerer
    gradients: GradientModel
    statistics: WordStatistics
    template: AnswerRequest
    progress: RunProgress = field(default_factory=NoProgress)


def check_references(questions: Sequence[Question]) -> None:
    """Check that every question has a reference answer.

    Raises:
        InvalidRequest: naming every question without one, and the field.
    """
    wrong = [
        Violation(f"question {each.id}, answers", "must have a reference answer that is not empty")
        for each in questions
        if not each.answers or not all(answer.strip() for answer in each.answers)
    ]
    if wrong:
        raise InvalidRequest(wrong)


def check_share(share: float) -> None:
    """Check the share of questions that is called long-tail.

    Raises:
        InvalidRequest: the share is not between 0 and 1.
    """
    if not 0 < share < 1:
        raise InvalidRequest.of("--share", f"must be above 0 and below 1, not {share:g}")


async def label_in_folder(
    labeller: Labeller, folder: Path, labelling: Labelling, questions: Sequence[Question]
) -> tuple[Label, ...]:
    """Compute what the folder lacks, and return the labels in the order of the questions.

    Raises:
        InvalidRequest: a question has no reference, or the folder has another labelling.
        ScaarError: the model cannot answer or be differentiated, or a file cannot be written.
    """
    check_references(questions)
    check_share(labelling.share)
    async with open_study(folder, LABELLING, labelling, questions) as store:
        kept = _Kept(folder, store)
        await _first_pass(labeller, kept, labelling, questions)
        await _second_pass(labeller, kept, labelling, questions)
        labels = _labels(questions, kept, share=labelling.share)
        await store.part(LABELS).add(labels)
        write_whole(folder / LABELS_FILE, lines_of(LABELS, labels))
    return labels


class _Kept:
    """What is computed of an unfinished labelling."""

    def __init__(self, folder: Path, store: StudyStore) -> None:
        stored = read_study(folder, LABELLING)
        self.answered = stored.records(ANSWERED)
        self.products = stored.records(PRODUCTS)
        self.mean = MeanGradient(folder / MEAN)
        self._store = store

    async def add_answered(self, answered: Answered) -> None:
        """Store the answer to a question."""
        await self._store.part(ANSWERED).add([answered])
        self.answered[answered.question_id] = answered

    async def add_product(self, product: Product) -> None:
        """Store the product of a question."""
        await self._store.part(PRODUCTS).add([product])
        self.products[product.question_id] = product


def _labels(questions: Sequence[Question], kept: _Kept, *, share: float) -> tuple[Label, ...]:
    """The labels of questions whose parts are all computed."""
    answered = [kept.answered[each.id] for each in questions]
    parts = [
        Parts(
            each.meteor, each.probability, each.frequency, kept.products[each.question_id].product
        )
        for each in answered
    ]
    placed = {variant: ranks(parts, variant) for variant in Variant}
    most = count_of(share, len(questions))
    return tuple(
        Label(
            question_id=question.id,
            question=question.question,
            reference=question.answers[0],
            prediction=answered[number].prediction,
            parts=parts[number],
            confidence=answered[number].confidence,
            question_frequency=answered[number].question_frequency,
            rarest=answered[number].rarest,
            gece=gece(parts[number]) if parts[number].product > 0 else None,
            rank=placed[Variant.GECE][number],
            long_tail=placed[Variant.GECE][number] <= most,
            without_statistics=placed[Variant.WITHOUT_STATISTICS][number],
            without_semantics=placed[Variant.WITHOUT_SEMANTICS][number],
        )
        for number, question in enumerate(questions)
    )


async def _first_pass(
    labeller: Labeller, kept: _Kept, labelling: Labelling, questions: Sequence[Question]
) -> None:
    remaining = [
        (number, each)
        for number, each in enumerate(questions)
        if number >= kept.mean.count or each.id not in kept.answered
    ]
    labeller.progress.name = "answering"
    with labeller.progress.watch(len(questions), len(questions) - len(remaining)) as on_stored:
        for number, question in remaining:
            if question.id not in kept.answered:
                await kept.add_answered(await _answered(labeller, question))
            if number >= kept.mean.count:
                kept.mean.add(await _gradient(labeller, labelling, question))
                if kept.mean.count % SAVE_EVERY == 0 or kept.mean.count == len(questions):
                    await asyncio.to_thread(kept.mean.save)
            on_stored(question)


async def _second_pass(
    labeller: Labeller, kept: _Kept, labelling: Labelling, questions: Sequence[Question]
) -> None:
    remaining = [each for each in questions if each.id not in kept.products]
    labeller.progress.name = "comparing gradients"
    with labeller.progress.watch(len(questions), len(kept.products)) as on_stored:
        for question in remaining:
            found = kept.mean.product(await _gradient(labeller, labelling, question))
            await kept.add_product(Product(question.id, found))
            on_stored(question)


async def _gradient(labeller: Labeller, labelling: Labelling, question: Question) -> Gradient:
    profile = profile_of(labelling.prompt_profile)
    prompt = profile.render(question.question)
    asked = (prompt, profile.forcing_phrase, question.answers[0])
    try:
        return await asyncio.to_thread(labeller.gradients.gradient, *asked)
    except InvalidRequest as error:
        wrong = [Violation(f"question {question.id}", str(each)) for each in error.violations]
        raise InvalidRequest(wrong) from error
    except ScaarError as error:
        raise ScaarError(f"question {question.id}: {error.message}") from error


async def _answered(labeller: Labeller, question: Question) -> Answered:
    """The answer of the model, with its statistics."""
    tokens: list[tuple[int, Token]] = []
    request = replace(labeller.template, question=question.question)
    async with aclosing(labeller.answerer.stream_answer(request)) as events:
        async for event in events:
            if isinstance(event, TokenDrafted):
                tokens.append((event.sentence, event.token))
            if isinstance(event, AnswerFinished):
                counted = labeller.statistics
                answer = event.answer
                return Answered(
                    question_id=question.id,
                    prediction=answer.answer,
                    text=answer.text,
                    meteor=meteor_exact_stem(answer.answer, question.answers),
                    probability=mean_probability([token for _, token in tokens]),
                    confidence=mean_probability([token for at, token in tokens if at == 0]),
                    frequency=counted.average(f"{question.question} {question.answers[0]}"),
                    question_frequency=counted.average(question.question),
                    rarest=counted.rarest(question.question),
                )
    raise StreamIncomplete("the answer ended without its final event")
