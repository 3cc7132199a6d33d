import numpy as np
import onnxruntime
import pytest

from scaar.lab.export.onnx_encoder import encoder_graph
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
