"""The scorer over a random cross-encoder, compared with the training code."""

import asyncio
import shutil

import numpy as np
import pytest

from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound, Overloaded, ScaarError
from scaar.core.loop.contribution import leave_one_out
from scaar.core.text.windows import windows_of
from scaar.core.types import ScoreRequest
from scaar.encoders.cross_encoder import TokenPair, open_cross_encoder
from scaar.lab.training.cross_encoder import logits, pad
from scaar.lab.vocabulary import build_tokenizer
from scaar.scorer.engines.pairs import encode_pairs
from scaar.scorer.factory import open_scorer
from scaar.scorer.settings import ScorerSettings

pytestmark = pytest.mark.slow

TOKENIZER = build_tokenizer(pairs=True)
FILM = ScoreRequest("Who made it?", tuple(" The film was directed by Ann 🙂.".split()))
SHORT = ScoreRequest("When?", ("Ann", "died", "died"))


@pytest.fixture
async def scorer(cross_encoder_folder):
    async with open_scorer(ScorerSettings(model=cross_encoder_folder)) as scorer:
        yield scorer


def by_training_code(encoder, question, words):
    shape, params = encoder
    whole, altered = leave_one_out(question, words)
    encodings = TOKENIZER.encode_batch([(whole, other) for other in altered])
    batch = pad(encodings, max(len(each.ids) for each in encodings))
    return 1 - 1 / (1 + np.exp(-np.asarray(logits(shape, params, *batch), np.float64)))


async def test_contributions_are_those_of_the_training_code(scorer, encoder):
    found = await scorer.score_contributions([FILM, SHORT])
    for request, contributions in zip((FILM, SHORT), found, strict=True):
        expected = by_training_code(encoder, request.question, request.words)
        np.testing.assert_allclose(contributions, expected, atol=1e-5)
        assert all(0 <= each <= 1 for each in contributions)


@pytest.mark.parametrize("padding", ["longest", "bucket"])
@pytest.mark.parametrize("max_batch_pairs", [1, 4, 1000])
async def test_batches_of_any_size_give_the_same(
    cross_encoder_folder, scorer, max_batch_pairs, padding
):
    settings = ScorerSettings(
        model=cross_encoder_folder, max_batch_pairs=max_batch_pairs, padding=padding
    )
    async with open_scorer(settings) as other:
        found = await other.score_contributions([FILM, SHORT, FILM])
    (film,), (short,) = [await scorer.score_contributions([each]) for each in (FILM, SHORT)]
    for contributions, alone in zip(found, (film, short, film), strict=True):
        np.testing.assert_allclose(contributions, alone, atol=1e-6)


async def test_no_sentences_give_no_contributions(scorer):
    assert await scorer.score_contributions([]) == ()


async def test_a_question_too_long_for_the_model_is_truncated_at_its_front(scorer, encoder):
    long = ScoreRequest(f"{'x' * 40} {'y' * 50} b c", SHORT.words)
    (found,) = await scorer.score_contributions([long])
    np.testing.assert_allclose(found, by_training_code(encoder, "b c", SHORT.words), atol=1e-5)


async def test_a_question_of_one_endless_word_is_left_out(scorer, encoder):
    (found,) = await scorer.score_contributions([ScoreRequest("x" * 8000, SHORT.words)])
    assert len(found) == 3


async def test_a_sentence_too_long_for_the_model_is_scored_in_windows(scorer, encoder):
    words = tuple(f"{chr(97 + at % 26)}{at}" for at in range(60))

    def fits(start, stop):
        whole, altered = leave_one_out("Who?", words[start:stop])
        read = TOKENIZER.encode_batch([(whole, other) for other in altered])
        return max(len(each.ids) for each in read) <= 96

    windows = windows_of(len(words), fits)
    assert len(windows) > 2
    found, short = await scorer.score_contributions([ScoreRequest("Who?", words), SHORT])
    for at in windows:
        expected = by_training_code(encoder, "Who?", words[at.start : at.stop])
        own = expected[at.first - at.start : at.last - at.start]
        np.testing.assert_allclose(found[at.first : at.last], own, atol=1e-5)
    assert (short,) == await scorer.score_contributions([SHORT])


async def test_half_of_the_question_is_read_with_a_window(scorer, encoder):
    long = ScoreRequest(f"{'x' * 40} {'y' * 50} b c", tuple("abcdefghijklmnopqrstuvwxyz" * 4))
    (found,) = await scorer.score_contributions([long])
    assert len(found) == 104
    (short,) = await scorer.score_contributions([ScoreRequest("b c", long.words)])
    assert found == short


async def test_a_word_that_fits_without_the_question_only_is_read_alone(scorer, encoder):
    (found,) = await scorer.score_contributions([ScoreRequest("When did it end?", ("x" * 85, "y"))])
    shape, params = encoder
    batch = pad([TOKENIZER.encode("x" * 85, "")], 96)
    similarity = 1 / (1 + np.exp(-float(logits(shape, params, *batch)[0])))
    np.testing.assert_allclose(found[0], 1 - similarity, atol=1e-5)


async def test_the_error_of_a_word_too_long_for_the_model_names_the_limit(scorer):
    with pytest.raises(InvalidRequest, match="pairs of 96 tokens") as refused:
        await scorer.score_contributions([SHORT, ScoreRequest("When?", ("x" * 100, "y"))])
    assert refused.value.violations[0].field == "sentences[1].words"


def test_a_sentence_far_too_long_is_not_tokenized_once_for_every_word(cross_encoder_folder):
    model = open_cross_encoder(cross_encoder_folder, threads=1)
    read = []

    class Counting:
        max_pair_tokens = model.max_pair_tokens

        def read(self, pairs):
            read.extend(pairs)
            return model.read(pairs)

    words = tuple(f"{at:030d}" for at in range(250))
    assert len(encode_pairs(Counting(), ScoreRequest("Who?", words), field="")) == 250
    assert sum(len(one) for one, _ in read) < 250 * 250 * 31 / 5


@pytest.mark.parametrize(
    ("request_", "field", "limit"),
    [
        (ScoreRequest(" ", ("a",)), "question", "empty"),
        (ScoreRequest("\ud800", ("a",)), "question", "surrogate"),
        (ScoreRequest("q", ()), "words", "1 to 256"),
        (ScoreRequest("q", ("a",) * 257), "words", "1 to 256"),
        (ScoreRequest("q", ("a", "")), "words", "white space"),
        (ScoreRequest("q", ("a b",)), "words", "white space"),
        (ScoreRequest("q", ("\udc00",)), "words", "surrogate"),
    ],
)
async def test_a_wrong_field_is_named_with_its_limit(scorer, request_, field, limit):
    with pytest.raises(InvalidRequest, match=limit) as refused:
        await scorer.score_contributions([SHORT, request_])
    assert refused.value.violations[0].field == f"sentences[1].{field}"


async def test_the_words_of_a_call_are_bounded(scorer):
    sentence = ScoreRequest("q", ("a",) * 256)
    with pytest.raises(InvalidRequest, match="at most 4096 words together, not 4352") as refused:
        await scorer.score_contributions([sentence] * 17)
    assert [each.field for each in refused.value.violations] == ["sentences"]


async def test_pairs_that_would_wait_beyond_the_limit_are_refused(cross_encoder_folder):
    settings = ScorerSettings(model=cross_encoder_folder, max_queued_pairs=4096, cache_entries=0)
    sentence = ScoreRequest("q", ("a",) * 40)
    async with open_scorer(settings) as scorer:
        calls = [scorer.score_contributions([sentence] * 100) for _ in range(2)]
        first, second = await asyncio.gather(*calls, return_exceptions=True)
        assert [len(each) for each in first] == [40] * 100
        assert isinstance(second, Overloaded)
        assert second.retry_after_s > 0
        assert len((await scorer.score_contributions([SHORT]))[0]) == 3


async def test_a_repeated_sentence_is_cached(scorer):
    first = await scorer.score_contributions([FILM, SHORT, FILM])
    assert await scorer.score_contributions([SHORT, FILM]) == (first[1], first[0])
    assert (scorer.misses, scorer.joined, scorer.hits) == (2, 1, 2)


async def test_nothing_is_cached_if_the_cache_is_disabled(cross_encoder_folder):
    settings = ScorerSettings(model=cross_encoder_folder, cache_entries=0)
    async with open_scorer(settings) as scorer:
        for _ in range(2):
            await scorer.score_contributions([SHORT])
        # Without its second or third word the sentence is the same, and computed once.
        assert (scorer.batcher.batches, scorer.batcher.computed_pairs) == (2, 4)


async def test_a_cancelled_call_leaves_nothing_behind(cross_encoder_folder):
    settings = ScorerSettings(model=cross_encoder_folder, cache_entries=0)
    async with open_scorer(settings) as scorer:
        call = asyncio.create_task(scorer.score_contributions([FILM] * 500))
        while not scorer.batcher.batches:  # noqa: ASYNC110 (nothing reports a first batch)
            await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert scorer.batcher.queued_pairs == 0
        assert len((await scorer.score_contributions([SHORT]))[0]) == 3
        assert scorer.batcher.batches <= 3


async def test_a_model_that_fails_raises_and_keeps_working(cross_encoder_folder):
    model = open_cross_encoder(cross_encoder_folder, threads=1)
    pairs = encode_pairs(model, SHORT, field="words")
    beyond = TokenPair((10**9,), (0,))
    with pytest.raises(ScaarError, match="random-ce fails on a batch of shape"):
        model.similarities([*pairs, beyond])
    assert len(model.similarities(pairs)) == 3


async def test_the_model_is_described(scorer):
    described = await scorer.describe_model()
    assert (described.model, described.engine) == ("random-ce", "onnx")
    assert described.max_pair_tokens == 96


# --- files ------------------------------------------------------------------------------------


@pytest.fixture
def folder(cross_encoder_folder, tmp_path):
    return shutil.copytree(cross_encoder_folder, tmp_path / "ce")


async def opened(folder):
    async with open_scorer(ScorerSettings(model=folder)) as scorer:
        return await scorer.describe_model()


async def test_no_model_set_says_what_to_set():
    with pytest.raises(NotFound, match="SCAAR_SCORER_MODEL"):
        await opened(None)


@pytest.mark.parametrize("name", ["model.onnx", "config.json", "tokenizer.json"])
async def test_missing_and_truncated_files_are_named(folder, name):
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:-1])
    with pytest.raises(DataCorrupt, match=name):
        await opened(folder)
    (folder / name).unlink()
    with pytest.raises(NotFound, match=name):
        await opened(folder)


async def test_a_model_of_another_kind_is_refused(folder, language_model_folder):
    (folder / "training_report.json").unlink()
    shutil.copy(language_model_folder / "model.onnx", folder / "model.onnx")
    with pytest.raises(DataCorrupt, match="not a cross-encoder with one logit"):
        await opened(folder)


async def test_positions_of_a_roberta_start_after_its_padding(folder):
    import json

    (folder / "training_report.json").unlink()
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "roberta", "pad_token_id": 1}
    (folder / "config.json").write_text(json.dumps(config))
    assert (await opened(folder)).max_pair_tokens == 94
