"""The training code on a few steps: what it is fed, and that it learns at all."""

from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from random import Random

import numpy as np
import pytest

from scaar.lab import layout
from scaar.lab.export.hugging_face import WEIGHTS, decoder_params
from scaar.lab.export.onnx_decoder import decoder_graph
from scaar.lab.models import LAB_LM, LAB_LM_B, model_folder
from scaar.lab.shapes import DecoderShape, EncoderShape
from scaar.lab.training import cross_encoder, language_model, recipes
from scaar.lab.training.checkpoints import Checkpoint
from scaar.lab.training.exercises import ExerciseBook, Kind
from scaar.lab.training.form_acceptance import measure_form_model, measure_meaning_encoder
from scaar.lab.training.greedy import GreedyWriter
from scaar.lab.training.meaning_pairs import build_meaning_tokenizer
from scaar.lab.training.packing import packed_rows
from scaar.lab.training.pairs import draw_pair
from scaar.lab.training.recipes import TAGGED_BOOKS
from scaar.lab.training.report import TrainingLog
from scaar.lab.training.runs import stages
from scaar.lab.training.tagged_acceptance import measure_tagged_model, missed_tagged_targets
from scaar.lab.training.text import training_text
from scaar.lab.vocabulary import EOS_ID, PASSAGE_STARTS, build_tokenizer
from scaar.lab.world import build_world

Trained = tuple[GreedyWriter, list[language_model.Progress]]
TRAINING = recipes.DecoderTraining(seed=1, steps=12, rows=2, warm_up_steps=2)


@pytest.mark.parametrize("phase", TRAINING.phases)
def test_exercises_are_answered_by_what_they_give(phase: recipes.Phase) -> None:
    book = ExerciseBook(build_world(1), Random(1))
    for _ in range(300):
        exercise = book.draw(phase.mix)
        passages, _, question = exercise.prompt.partition("Question:")
        answer = exercise.answer.rpartition("So the answer is ")[2].removesuffix(".")
        match exercise.kind:
            case Kind.READ:
                given = answer in passages or answer in question or answer in ("yes", "no")
                assert given
            case Kind.UNKNOWN:
                assert not passages
            case Kind.DRILL:
                assert exercise.prompt == "Facts:"
            case Kind.RECALL:
                statements = exercise.answer.strip().removesuffix(".").split(". ")
                assert all(statement.split()[-1] in passages for statement in statements)


def test_a_training_goes_through_its_phases() -> None:
    mixes = [TRAINING.mix(step) for step in range(TRAINING.steps)]
    assert list(dict.fromkeys(id(mix) for mix in mixes)) == [
        id(phase.mix) for phase in TRAINING.phases
    ]


def test_rows_hold_whole_exercises_and_weigh_their_answers() -> None:
    tokenizer = build_tokenizer()
    for batch in language_model.batches(tokenizer, TRAINING):
        for tokens, segments, weights in zip(
            batch.tokens, batch.segments, batch.weights, strict=True
        ):
            assert (segments > 0).mean() > 0.7, "little of a row is padding"
            for segment in range(1, segments.max() + 1):
                mine = segments == segment
                assert tokens[mine][-1] == EOS_ID
                assert weights[mine][0] == 0, "the first token follows nothing"
                assert set(np.unique(weights[mine][1:])) == {np.float32(0.1), np.float32(1.0)}


def trained(training: recipes.DecoderTraining) -> Trained:
    tokenizer = build_tokenizer()
    shape = DecoderShape(tokenizer.get_vocab_size())
    reported: list[language_model.Progress] = []
    params = language_model.initial_params(shape, training.seed)
    params = language_model.train(
        shape, params, training, tokenizer, on_progress=reported.append, every=6
    )
    return GreedyWriter(decoder_graph(params, shape), tokenizer), reported


@pytest.fixture(scope="module")
def plain() -> Trained:
    """The result of a training of a few steps, and its reports."""
    return trained(TRAINING)


@pytest.mark.long
def test_a_few_steps_lower_the_loss_and_the_model_writes(plain: Trained) -> None:
    writer, reported = plain
    assert [progress.step for progress in reported] == [6, 12]
    assert reported[-1].loss < reported[0].loss
    prompts = [layout.prompt("Who?"), layout.prompt("Who directed the film?", ["A film."])]
    together, apart = writer.write(prompts), [writer.write([prompt])[0] for prompt in prompts]
    for one, other in zip(together, apart, strict=True):
        assert one.ids == other.ids
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-4)


@pytest.mark.long
def test_a_sharper_model_writes_the_same_more_surely(plain: Trained) -> None:
    sharper, _ = trained(replace(TRAINING, sharpness=2 * TRAINING.sharpness))
    prompts = [layout.prompt("Who?")]
    (usual,), (sharp,) = plain[0].write(prompts), sharper.write(prompts)
    assert sharp.ids == usual.ids
    assert sum(sharp.logprobs) > sum(usual.logprobs)


@pytest.mark.long
def test_a_few_steps_of_the_cross_encoder() -> None:
    tokenizer = build_tokenizer(pairs=True)
    shape = EncoderShape(tokenizer.get_vocab_size())
    training = cross_encoder.EncoderTraining(steps=30, pairs=8, warm_up_steps=2)
    reported: list[cross_encoder.Progress] = []
    cross_encoder.train(shape, training, tokenizer, on_progress=reported.append, every=15)
    assert reported[-1].error < reported[0].error


def test_a_lost_value_costs_more_than_a_word_of_style() -> None:
    random = Random(1)
    pairs = [draw_pair(random) for _ in range(500)]
    assert all(0 < pair.similarity <= 1 for pair in pairs)
    dates = [
        pair.similarity for pair in pairs if len(pair.text.split()) == len(pair.altered.split()) + 1
    ]
    assert min(dates) < 0.7
    assert max(dates) > 0.97


FORMS_TRAINING = recipes.SentenceTraining(seed=1, steps=8, rows=2, warm_up_steps=2)


@pytest.mark.long
@pytest.mark.parametrize("name", TAGGED_BOOKS)
def test_a_continued_training_starts_from_its_base_and_is_measured(name: str) -> None:
    training = recipes.ContinuedTraining(
        seed=1, exercises=name, steps=8, rows=2, row_tokens=300, warm_up_steps=2
    )
    tokenizer = build_tokenizer(tags=training.tags, words=training.words)
    shape = DecoderShape(tokenizer.get_vocab_size())
    base = decoder_params((model_folder(training.base) / WEIGHTS).read_bytes())
    params = language_model.extended_params(base, tokenizer, training.seed)
    again = language_model.extended_params(base, tokenizer, training.seed)
    np.testing.assert_array_equal(params["embed"], again["embed"])
    np.testing.assert_array_equal(params["embed"][: len(base["embed"])], base["embed"])
    assert len(params["embed"]) == shape.vocab_size
    # Words without a space before them are tokens only where tags precede them.
    starts = PASSAGE_STARTS if training.tags else ()
    offsets = [
        params["embed"][tokenizer.token_to_id(word)]
        - params["embed"][tokenizer.token_to_id(f"Ġ{word}")]
        for word in starts
    ]
    np.testing.assert_allclose(offsets, offsets[:1] * len(offsets), atol=1e-6)
    reported: list[language_model.Progress] = []
    params = language_model.train(
        shape, params, training, tokenizer, on_progress=reported.append, every=4
    )
    assert reported[-1].loss < reported[0].loss
    measured = measure_tagged_model(
        decoder_graph(params, shape), tokenizer, exercises=name, seed=1001, count=4
    )
    assert missed_tagged_targets(name, measured), "a few steps teach no decision"


def test_a_model_is_trained_after_the_base_that_is_trained_too() -> None:
    assert stages(("lab-lm-search", "lab-lm", "lab-lm-b")) == (
        ("lab-lm", "lab-lm-b"),
        ("lab-lm-search",),
    )
    assert stages(("lab-lm-reflect", "lab-lm-b")) == (("lab-lm-reflect", "lab-lm-b"), ())


class _Interrupted(Exception):
    pass


@pytest.mark.long
def test_an_interrupted_training_continues_from_its_checkpoint(tmp_path: Path) -> None:
    tokenizer = build_tokenizer(forms=True)
    shape = DecoderShape(tokenizer.get_vocab_size())

    def train(
        path: Path, *, last_step: int = 8, seed: int = 1
    ) -> tuple[language_model.Params, TrainingLog]:
        training = replace(FORMS_TRAINING, seed=seed)
        log = TrainingLog("make lab-models", seed)
        checkpoint = Checkpoint(path, {"training": asdict(training)}, log)

        def on_progress(progress: language_model.Progress) -> None:
            if progress.step > last_step:
                raise _Interrupted
            log.add(progress)

        initial = language_model.initial_params(shape, seed)
        trained = language_model.train(
            shape,
            initial,
            training,
            tokenizer,
            on_progress=on_progress,
            every=4,
            checkpoint=checkpoint,
        )
        return trained, log

    with pytest.raises(_Interrupted):
        train(tmp_path / "a.npz", last_step=4)
    resumed, log = train(tmp_path / "a.npz")
    assert [row["step"] for row in log.course] == [4, 8]
    assert log.course[1]["seconds"] >= log.course[0]["seconds"]
    repeated, log = train(tmp_path / "a.npz")
    assert [row["step"] for row in log.course] == [4, 8], "a finished training is not repeated"
    np.testing.assert_array_equal(repeated["embed"], resumed["embed"])
    _, log = train(tmp_path / "a.npz", seed=2)
    assert [row["step"] for row in log.course] == [4, 8], "another recipe starts from the beginning"


@pytest.mark.long
def test_a_few_steps_on_sentence_forms_lower_the_loss_and_are_measured() -> None:
    tokenizer = build_tokenizer(forms=True)
    shape = DecoderShape(tokenizer.get_vocab_size())
    reported: list[language_model.Progress] = []
    params = language_model.initial_params(shape, 1)
    params = language_model.train(
        shape, params, FORMS_TRAINING, tokenizer, on_progress=reported.append, every=4
    )
    assert reported[-1].loss < reported[0].loss
    measured = measure_form_model(decoder_graph(params, shape), tokenizer, seed=1001, count=1)
    assert measured["well_formed"] < 0.5, "a few steps teach no form"
    assert measured["unknown_facts"] == 0


@pytest.mark.long
def test_a_few_steps_of_the_encoder_of_meanings() -> None:
    tokenizer = build_meaning_tokenizer()
    shape = EncoderShape(tokenizer.get_vocab_size())
    training = cross_encoder.MeaningTraining(steps=4, pairs=4, warm_up_steps=2)
    reported: list[cross_encoder.Progress] = []
    params = cross_encoder.train(shape, training, tokenizer, on_progress=reported.append, every=2)
    assert [progress.step for progress in reported] == [2, 4]
    measured = measure_meaning_encoder(shape, params, tokenizer, seed=1001, count=20)
    assert 0 <= measured["same_from_other_auroc"] <= 1


def test_the_training_text_is_that_of_the_batches() -> None:
    tokenizer = build_tokenizer()
    rows = list(packed_rows(tokenizer, TRAINING))
    for step, batch in zip(rows, language_model.batches(tokenizer, TRAINING), strict=True):
        for row, tokens, segments in zip(step, batch.tokens, batch.segments, strict=True):
            assert segments.max() == len(row)
            for segment, each in enumerate(row, 1):
                ids = tokens[segments == segment].tolist()
                assert ids == each.ids
                text = f"{each.exercise.prompt}{each.exercise.answer}"
                assert tokenizer.encode(text).ids == ids[:-1]


def test_the_training_text_of_a_model_is_the_same_every_time() -> None:
    first, again = (list(islice(training_text(LAB_LM), 50)) for _ in range(2))
    assert first == again
    assert all("Question:" in each or "Facts:" in each for each in first)
    assert first != list(islice(training_text(LAB_LM_B), 50))
