from scaar.database.database import Database
from scaar.evaluator.datasets.lab import LAB
from scaar.evaluator.store.database.evaluations import get_evaluation
from scaar.evaluator.store.database.predictions import (
    Place,
    ShardPredictions,
    every_prediction,
    figures_of,
    page_of_predictions,
)
from scaar.evaluator.store.database.transitions import succeed_if_complete
from scaar.testing.evaluations import LABELS, QUESTIONS, SETTINGS, failed, prediction

from .stored import running


def store_of(
    database: Database, evaluation: int, *, first: int = 0, attempts: int = 3
) -> ShardPredictions:
    return ShardPredictions(
        database,
        evaluation,
        first=first,
        questions=QUESTIONS[first:],
        settings=SETTINGS,
        kind=LAB,
        attempts=attempts,
    )


async def test_a_prediction_is_written_once_and_comes_back_as_it_was(database: Database) -> None:
    key = await running(database)
    store = store_of(database, key.evaluation)
    await store.add([prediction(LABELS[1], "q1")])
    await store.add([prediction(LABELS[1], "q1", answer="another")])
    await store.add([failed(LABELS[1], "q1")])
    kept = [each async for each in every_prediction(database, key.evaluation)]
    assert kept == [prediction(LABELS[1], "q1")]
    assert await store.known() == {(LABELS[1], "q1"): False}


async def test_a_failure_is_the_last_word_after_some_attempts(database: Database) -> None:
    key = await running(database)
    store = store_of(database, key.evaluation)
    for _ in range(2):
        await store.add([failed(LABELS[0], "q1")])
        assert await store.known() == {}
    await store.add([failed(LABELS[0], "q1")])
    assert await store.known() == {(LABELS[0], "q1"): True}
    await store.add([failed(LABELS[0], "q2")])
    await store.add([prediction(LABELS[0], "q2")])
    assert (await store.known())[LABELS[0], "q2"] is False


async def test_pages_are_in_the_order_of_the_plan_whatever_came_first(database: Database) -> None:
    key = await running(database)
    store = store_of(database, key.evaluation, attempts=1)
    planned = [(each.id, label) for each in QUESTIONS for label in LABELS]
    for question_id, label in reversed(planned):
        await store.add([prediction(label, question_id)])
    found: list[tuple[str, str]] = []
    after: Place | None = None
    while page := await page_of_predictions(database, key.evaluation, size=2, after=after):
        assert len(page) <= 2
        found += [(each.question_id, each.setting) for _, each in page]
        after = page[-1][0]
    assert found == planned
    only = await page_of_predictions(database, key.evaluation, size=9, setting=1)
    assert [(each.question_id, each.setting) for _, each in only] == [
        (each.id, LABELS[1]) for each in QUESTIONS
    ]


async def test_a_shard_knows_the_stored_answers_of_its_questions(database: Database) -> None:
    key = await running(database)
    await store_of(database, key.evaluation).add([prediction(LABELS[0], "q1")])
    second = store_of(database, key.evaluation, first=1)
    assert await second.known() == {}
    await second.add([prediction(LABELS[0], "q2")])
    assert await second.known() == {(LABELS[0], "q2"): False}


async def test_figures_and_counts_are_those_of_what_is_settled(database: Database) -> None:
    key = await running(database)
    store = store_of(database, key.evaluation, attempts=2)
    await store.add([prediction(LABELS[1], "q1")])
    await store.add([failed(LABELS[1], "q2")])
    (figures,) = await figures_of(database, key.evaluation)
    assert (figures.setting, figures.done, figures.failed, figures.retrievals) == (1, 1, 0, 1.0)
    await store.add([failed(LABELS[1], "q2")])
    (figures,) = await figures_of(database, key.evaluation)
    assert (figures.done, figures.failed, figures.retrievals) == (2, 1, 0.5)
    stored = await get_evaluation(database, "a")
    assert (stored.done, stored.failed) == (2, 1)


async def test_an_evaluation_succeeds_by_its_count_and_not_before(database: Database) -> None:
    key = await running(database)
    store = store_of(database, key.evaluation, attempts=1)
    planned = [(each.id, label) for each in QUESTIONS for label in LABELS]
    for question_id, label in planned:
        assert not await succeed_if_complete(database, key.evaluation, now=200.0)
        await store.add([prediction(label, question_id)])
    assert await succeed_if_complete(database, key.evaluation, now=200.0)
    assert not await succeed_if_complete(database, key.evaluation, now=201.0)
