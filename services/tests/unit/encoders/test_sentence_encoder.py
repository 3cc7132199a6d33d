"""A sentence encoder over a random BERT: its tokens and its vectors."""

import json
import shutil

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import DataCorrupt, NotFound
from scaar.encoders.sentence_encoder import BATCH_TEXTS, SentenceEncoder
from scaar.lab.vocabulary import build_tokenizer

TEXTS = ["The film was made by Ann.", "", "Who?", "Ann 🙂 [PAD] </s> met Bob in a town by the sea"]


@pytest.fixture(scope="module")
def opened(sentence_encoder_folder):
    return SentenceEncoder.open(sentence_encoder_folder, threads=1)


@pytest.fixture
def folder(sentence_encoder_folder, tmp_path):
    """Copy of the encoder, to be damaged."""
    return shutil.copytree(sentence_encoder_folder, tmp_path / "encoder")


def test_the_encoder_describes_itself(opened):
    assert (opened.name, opened.width, opened.max_tokens) == ("random-encoder", 32, 40)
    assert opened.normalised
    assert len(opened.revision) == 12


def test_a_vector_is_the_mean_of_the_models_own_numbers(opened, sentence_encoder_folder):
    session = onnxruntime.InferenceSession(sentence_encoder_folder / "model.onnx")
    ids = np.array([build_tokenizer(pairs=True).encode(TEXTS[0]).ids])
    (hidden,) = session.run(
        None, {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
    )
    mean = hidden[0].mean(axis=0)
    np.testing.assert_allclose(opened.encode(TEXTS[:1])[0], mean / np.linalg.norm(mean), atol=1e-6)


def test_texts_of_any_number_and_order_have_the_vectors_of_each_alone(opened):
    texts = [f"{text} {'Ann ' * (place % 7)}" for place, text in enumerate(TEXTS * 20)]
    assert len(texts) > 2 * BATCH_TEXTS
    together = opened.encode(texts)
    assert together.dtype == np.float32
    assert together.shape == (len(texts), opened.width)
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_allclose(opened.encode([text])[0], vector, atol=1e-5)


def test_no_texts_have_no_vectors(opened):
    assert opened.encode([]).shape == (0, 32)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_every_text_has_a_vector_of_length_one(opened, text):
    assert np.linalg.norm(opened.encode([text])) == pytest.approx(1, abs=1e-5)


def test_a_long_text_is_truncated_for_its_vector_and_not_for_its_tokens(opened):
    long = "Ann " * 200
    assert len(opened.tokens([long])[0]) > opened.max_tokens
    kept = opened.encode([long])
    first, last = opened.tokens([long])[0][: opened.max_tokens - 1], opened.tokens([""])[0][-1]
    np.testing.assert_allclose(opened.encode_tokens([(*first, last)]), kept, atol=1e-6)


def test_text_like_a_special_token_is_ordinary_text(opened):
    (tokens,) = opened.tokens(["</s>"])
    assert len(tokens) > 3


def test_another_pooling_is_another_revision(opened, folder):
    (folder / "1_Pooling/config.json").write_text('{"pooling_mode_cls_token": true}')
    other = SentenceEncoder.open(folder, threads=1)
    assert other.revision != opened.revision
    assert not np.allclose(other.encode(TEXTS), opened.encode(TEXTS))


def test_a_copied_folder_has_the_same_revision(opened, folder):
    assert SentenceEncoder.open(folder, threads=1).revision == opened.revision


def test_a_model_without_token_vectors_is_refused(cross_encoder_folder):
    with pytest.raises(DataCorrupt, match="is not a sentence encoder"):
        SentenceEncoder.open(cross_encoder_folder, threads=1)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(NotFound, match=name):
        SentenceEncoder.open(folder, threads=1)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "sentence_bert_config.json"])
def test_a_damaged_file_is_named(folder, name):
    (folder / name).write_bytes(b"\xff not this")
    with pytest.raises(DataCorrupt, match=name):
        SentenceEncoder.open(folder, threads=1)


def test_a_width_that_the_model_does_not_have_is_refused(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "hidden_size": 31}))
    opened = SentenceEncoder.open(folder, threads=1)
    with pytest.raises(DataCorrupt, match="31 finite numbers per token"):
        opened.encode(TEXTS)
