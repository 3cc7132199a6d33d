"""The training code on a few steps: what it is fed, and that it learns at all."""

from random import Random

import numpy as np

from scaar.lab import layout
from scaar.lab.training import cross_encoder, language_model
from scaar.lab.training.acceptance import GreedyWriter
from scaar.lab.training.exercises import FINDING_MIX, FIRST_MIX, ExerciseBook, Kind
from scaar.lab.training.pairs import draw_pair
from scaar.lab.vocabulary import EOS_ID, build_tokenizer
from scaar.lab.world import build_world

STAGE = language_model.DecoderTraining(
    seed=1, steps=12, peak_rate=2e-3, mix=FINDING_MIX, rows=2, warm_up_steps=2
)


def test_exercises_are_answered_by_what_they_give() -> None:
    book = ExerciseBook(build_world(1), Random(1), FINDING_MIX)
    for _ in range(300):
        exercise = book.draw(most_passages=3)
        answer = exercise.answer.rpartition("So the answer is ")[2].removesuffix(".")
        passages = exercise.prompt.partition("Question:")[0]
        match exercise.kind:
            case Kind.READ:
                assert answer in passages
            case Kind.UNKNOWN:
                assert exercise.prompt.startswith("Question:")
            case Kind.RECALL:
                statements = exercise.answer.strip().removesuffix(".").split(". ")
                assert all(statement.split()[-1] in passages for statement in statements)


def test_rows_hold_whole_exercises_and_weigh_their_answers() -> None:
    tokenizer = build_tokenizer()
    book = ExerciseBook(build_world(1), Random(1), FIRST_MIX)
    for batch in language_model.batches(book, tokenizer, STAGE):
        for tokens, segments, weights in zip(
            batch.tokens, batch.segments, batch.weights, strict=True
        ):
            assert (segments > 0).mean() > 0.7, "little of a row is padding"
            for segment in range(1, segments.max() + 1):
                mine = segments == segment
                assert tokens[mine][-1] == EOS_ID
                assert weights[mine][0] == 0, "the first token follows nothing"
                assert set(np.unique(weights[mine][1:])) == {np.float32(0.1), np.float32(1.0)}


def test_a_few_steps_lower_the_loss_and_the_model_writes() -> None:
    tokenizer = build_tokenizer()
    shape = language_model.DecoderShape(tokenizer.get_vocab_size())
    told: list[language_model.Progress] = []
    params = language_model.initial_params(shape, STAGE.seed)
    params = language_model.train(shape, params, STAGE, tokenizer, tell=told.append, every=6)
    assert [progress.step for progress in told] == [6, 12]
    assert told[-1].loss < told[0].loss
    (written,) = GreedyWriter(shape, params, tokenizer).write([layout.prompt("Who?")])
    assert len(written.ids) == len(written.logprobs) > 0


def test_a_few_steps_of_the_cross_encoder() -> None:
    tokenizer = build_tokenizer(pairs=True)
    shape = cross_encoder.EncoderShape(tokenizer.get_vocab_size())
    training = cross_encoder.EncoderTraining(steps=30, pairs=8, warm_up_steps=2)
    told: list[cross_encoder.Progress] = []
    cross_encoder.train(shape, training, tokenizer, tell=told.append, every=15)
    assert told[-1].error < told[0].error


def test_a_lost_value_costs_more_than_a_word_of_style() -> None:
    random = Random(1)
    pairs = [draw_pair(random) for _ in range(500)]
    assert all(0 < pair.likeness <= 1 for pair in pairs)
    dates = [
        pair.likeness for pair in pairs if len(pair.text.split()) == len(pair.altered.split()) + 1
    ]
    assert min(dates) < 0.7
    assert max(dates) > 0.97
