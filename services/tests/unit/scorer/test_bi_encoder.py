"""The scorer over a random sentence encoder: contributions from the cosine of two texts."""

import asyncio

import numpy as np
import pytest

from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound
from scaar.core.loop.contribution import leave_one_out
from scaar.core.text.windows import windows_of
from scaar.core.types import ScoreRequest
from scaar.encoders.sentence_encoder import SentenceEncoder
from scaar.scorer.engines.bi_encoder import open_bi_encoder
from scaar.scorer.engines.pairs import encode_pairs
from scaar.scorer.factory import open_scorer
from scaar.scorer.settings import ScorerSettings
from scaar.testing.conformance.scorer import ScorerConformance
from scaar.testing.sockets import TRANSPORTS, scorer_by

FILM = ScoreRequest("Who made it?", tuple(" The film was made by Ann 🙂.".split()))
SHORT = ScoreRequest("When?", ("Ann", "died", "died"))


def settings_of(folder, **others):
    return ScorerSettings(engine="bi_encoder", model=folder, threads=1, **others)


@pytest.mark.parametrize("transport", TRANSPORTS, scope="class")
class TestABiEncoder(ScorerConformance):
    @pytest.fixture
    async def scorer(self, transport, sentence_encoder_folder):
        async with (
            open_scorer(settings_of(sentence_encoder_folder)) as engine,
            scorer_by(transport, engine) as scorer,
        ):
            yield scorer


@pytest.fixture
async def scorer(sentence_encoder_folder):
    async with open_scorer(settings_of(sentence_encoder_folder)) as scorer:
        yield scorer


@pytest.fixture(scope="module")
def vectors(sentence_encoder_folder):
    return SentenceEncoder.open(sentence_encoder_folder, threads=1).encode


def by_cosine(vectors, question, words):
    whole, altered = leave_one_out(question, words)
    text, *others = vectors([whole, *altered]).astype(np.float64)
    return [1 - other @ text for other in others]


async def test_a_contribution_is_one_minus_the_cosine(scorer, vectors):
    found = await scorer.score_contributions([FILM, SHORT])
    for request, contributions in zip((FILM, SHORT), found, strict=True):
        expected = by_cosine(vectors, request.question, request.words)
        np.testing.assert_allclose(contributions, expected, atol=1e-6)
        assert all(0 <= each <= 1 for each in contributions)


async def test_an_encoder_without_normalisation_is_compared_by_the_cosine_too(
    sentence_encoder_folder, tmp_path, scorer
):
    for name in ("config.json", "tokenizer.json", "model.onnx", "sentence_bert_config.json"):
        (tmp_path / name).symlink_to(sentence_encoder_folder / name)
    async with open_scorer(settings_of(tmp_path)) as other:
        found = await other.score_contributions([FILM])
    np.testing.assert_allclose(found, await scorer.score_contributions([FILM]), atol=1e-6)


@pytest.mark.parametrize("max_batch_pairs", [1, 4, 1000])
async def test_batches_of_any_size_give_the_same(sentence_encoder_folder, scorer, max_batch_pairs):
    settings = settings_of(sentence_encoder_folder, max_batch_pairs=max_batch_pairs)
    async with open_scorer(settings) as other:
        calls = [other.score_contributions([each]) for each in (FILM, SHORT)]
        found = [row for (row,) in await asyncio.gather(*calls)]
    for row, alone in zip(found, await scorer.score_contributions([FILM, SHORT]), strict=True):
        np.testing.assert_allclose(row, alone, atol=1e-6)


async def test_a_question_too_long_for_the_model_is_truncated_at_its_front(scorer, vectors):
    long = ScoreRequest(f"{'x' * 40} {'y' * 50} b c", SHORT.words)
    (found,) = await scorer.score_contributions([long])
    np.testing.assert_allclose(found, by_cosine(vectors, "b c", SHORT.words), atol=1e-6)


async def test_a_sentence_too_long_for_the_model_is_scored_in_windows(
    sentence_encoder_folder, scorer, vectors
):
    words = tuple("abcdefghijklmnopqrstuvwxyz" * 2)
    reader = open_bi_encoder(sentence_encoder_folder, threads=1)

    def fits(start, stop):
        text = " ".join(("Q", *words[start:stop]))
        return len(reader.read([(text, "")])[0]) <= 40

    (found,) = await scorer.score_contributions([ScoreRequest("Q", words)])
    for at in windows_of(len(words), fits):
        expected = by_cosine(vectors, "Q", words[at.start : at.stop])
        own = expected[at.first - at.start : at.last - at.start]
        np.testing.assert_allclose(found[at.first : at.last], own, atol=1e-6)


async def test_the_error_of_a_word_too_long_for_the_model_names_the_limit(scorer):
    with pytest.raises(InvalidRequest, match="pairs of 40 tokens") as refused:
        await scorer.score_contributions([SHORT, ScoreRequest("When?", ("x" * 60, "y"))])
    assert refused.value.violations[0].field == "sentences[1].words"


def test_the_whole_sentence_is_read_once_for_all_its_words(sentence_encoder_folder):
    pairs = encode_pairs(open_bi_encoder(sentence_encoder_folder, threads=1), FILM, field="")
    assert len({pair.text for pair in pairs}) == 1
    assert len({pair.altered for pair in pairs}) == len(FILM.words)


async def test_the_scorer_describes_its_model_and_its_maximum_length(scorer):
    reported = await scorer.describe_model()
    assert (reported.model, reported.engine, reported.max_pair_tokens) == (
        "random-encoder",
        "bi_encoder",
        40,
    )


async def test_a_control_wraps_the_scorer(sentence_encoder_folder):
    settings = settings_of(sentence_encoder_folder, control="constant")
    async with open_scorer(settings) as scorer:
        ((first, *others),) = await scorer.score_contributions([FILM])
    assert others == [first] * (len(FILM.words) - 1)


async def test_without_a_model_the_setting_is_named():
    with pytest.raises(NotFound, match="SCAAR_SCORER_MODEL"):
        async with open_scorer(settings_of(None)):
            pass


async def test_a_cross_encoder_is_refused(cross_encoder_folder):
    with pytest.raises(DataCorrupt, match="is not a sentence encoder"):
        async with open_scorer(settings_of(cross_encoder_folder)):
            pass
