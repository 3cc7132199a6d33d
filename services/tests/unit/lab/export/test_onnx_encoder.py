import numpy as np
import onnxruntime
import pytest

from scaar.lab.export.onnx_encoder import encoder_graph, sentence_encoder_graph
from scaar.lab.training.cross_encoder import logits


@pytest.fixture(scope="module")
def session(encoder):
    shape, params = encoder
    return onnxruntime.InferenceSession(encoder_graph(params, shape))


@pytest.fixture(scope="module")
def batch(encoder):
    random = np.random.default_rng(6)
    tokens = random.integers(0, encoder[0].vocab_size, (8, 50))
    mask = (np.arange(50) < random.integers(4, 51, 8)[:, None]).astype(np.int64)
    return tokens, mask, random.integers(0, 2, (8, 50))


def run(session, tokens, mask, types):
    inputs = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": types}
    return session.run(["logits"], inputs)[0]


def test_the_graph_gives_the_logits_of_the_training_code(session, encoder, batch):
    shape, params = encoder
    found = run(session, *batch)
    assert found.shape == (8, 1)
    np.testing.assert_allclose(found[:, 0], np.asarray(logits(shape, params, *batch)), atol=1e-4)


def test_a_padded_pair_gives_what_it_gives_alone(session, batch):
    together = run(session, *batch)
    for row, length in enumerate(batch[1].sum(1)):
        alone = run(session, *(part[row : row + 1, :length] for part in batch))
        np.testing.assert_allclose(alone[0], together[row], atol=1e-5)


def test_equal_parameters_give_equal_bytes(encoder):
    shape, params = encoder
    assert encoder_graph(params, shape) == encoder_graph(params, shape)


def test_a_sentence_encoder_of_compact_matrices_has_the_hidden_states_to_1e_4(encoder, batch):
    shape, params = encoder
    tokens, mask, types = batch
    inputs = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": types}
    session = onnxruntime.InferenceSession(sentence_encoder_graph(params, shape))
    (found,) = session.run(["last_hidden_state"], inputs)
    assert (found.shape, found.dtype) == ((8, 50, shape.hidden_size), np.float32)
    pooled = np.tanh(found[:, 0] @ params["pooler"] + params["pooler_bias"])
    scores = pooled @ params["classifier"] + params["classifier_bias"]
    expected = np.asarray(logits(shape, params, *batch))
    np.testing.assert_allclose(scores[:, 0], expected, atol=1e-3)


def test_a_column_of_zeros_stays_zero(encoder):
    shape, params = encoder
    params = {**params, "word_embed": params["word_embed"] * (np.arange(shape.hidden_size) > 0)}
    session = onnxruntime.InferenceSession(sentence_encoder_graph(params, shape))
    ids = np.array([[1, 2, 3]])
    inputs = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
    assert np.isfinite(session.run(None, inputs)[0]).all()


def test_compact_matrices_take_half_the_bytes(encoder):
    shape, params = encoder
    assert len(sentence_encoder_graph(params, shape)) < 0.7 * len(encoder_graph(params, shape))
