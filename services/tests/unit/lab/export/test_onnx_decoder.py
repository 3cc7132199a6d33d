import numpy as np
import onnxruntime
import pytest

from scaar.lab.export.onnx_decoder import decoder_graph
from scaar.lab.training.language_model import logits


@pytest.fixture(scope="module")
def session(decoder):
    shape, params = decoder
    return onnxruntime.InferenceSession(decoder_graph(params, shape))


@pytest.fixture(scope="module")
def tokens(decoder):
    return np.random.default_rng(5).integers(0, decoder[0].vocab_size, (3, 40))


def run(session, shape, tokens, *, mask=None, positions=None, past=None):
    rows, new = tokens.shape
    if past is None:
        empty = np.zeros((rows, shape.num_attention_heads, 0, shape.head_size), np.float32)
        past = dict.fromkeys(cache_names(shape, "past_key_values"), empty)
    seen = next(iter(past.values())).shape[2]
    if mask is None:
        mask = np.ones((rows, seen + new), np.int64)
    if positions is None:
        positions = np.tile(np.arange(seen, seen + new), (rows, 1))
    inputs = {"input_ids": tokens, "attention_mask": mask, "position_ids": positions, **past}
    names = [each.name for each in session.get_outputs()]
    outputs = dict(zip(names, session.run(None, inputs), strict=True))
    cache = {
        name: outputs[name.replace("past_key_values", "present")]
        for name in cache_names(shape, "past_key_values")
    }
    return outputs, cache


def cache_names(shape, prefix):
    return [
        f"{prefix}.{layer}.{part}"
        for layer in range(shape.num_hidden_layers)
        for part in ("key", "value")
    ]


def test_the_graph_gives_the_logits_of_the_training_code(session, decoder, tokens):
    shape, params = decoder
    outputs, _ = run(session, shape, tokens)
    expected = np.asarray(logits(shape, params, tokens, np.ones_like(tokens)))
    assert np.abs(expected).max() > 1
    np.testing.assert_allclose(outputs["logits"], expected, atol=1e-4)


def test_one_call_equals_one_call_per_token(session, decoder, tokens):
    shape, _ = decoder
    whole, whole_cache = run(session, shape, tokens)
    past = None
    for at in range(tokens.shape[1]):
        step, past = run(session, shape, tokens[:, at : at + 1], past=past)
        np.testing.assert_allclose(step["logits"][:, 0], whole["logits"][:, at], atol=1e-4)
        np.testing.assert_allclose(
            step["last_attention"][:, :, 0], whole["last_attention"][:, :, at, : at + 1], atol=1e-5
        )
    for name, values in past.items():
        np.testing.assert_allclose(values, whole_cache[name], atol=1e-5)


def test_two_calls_equal_one_call(session, decoder, tokens):
    shape, _ = decoder
    whole, _ = run(session, shape, tokens)
    _, past = run(session, shape, tokens[:, :17])
    rest, _ = run(session, shape, tokens[:, 17:], past=past)
    np.testing.assert_allclose(rest["logits"], whole["logits"][:, 17:], atol=1e-4)


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_padded_row_gives_what_it_gives_alone(session, decoder, tokens, side):
    shape, _ = decoder
    short = 25
    place = slice(40 - short, 40) if side == "left" else slice(0, short)
    padded, mask = np.zeros_like(tokens), np.ones_like(tokens)
    positions = np.tile(np.arange(40), (3, 1))
    padded[0], mask[1:], positions[1:] = tokens[0], 0, 0
    padded[1:, place], mask[1:, place] = tokens[1:, :short], 1
    positions[1:, place] = np.arange(short)
    outputs, _ = run(session, shape, padded, mask=mask, positions=positions)
    alone, _ = run(session, shape, tokens[1:, :short])
    np.testing.assert_allclose(outputs["logits"][1:, place], alone["logits"], atol=1e-4)


def test_attention_sums_to_one_and_is_causal(session, decoder, tokens):
    outputs, _ = run(session, decoder[0], tokens)
    weights = outputs["last_attention"]
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    assert np.abs(np.triu(weights, 1)).max() == 0


def test_inputs_and_outputs_have_optimums_names(session, decoder):
    shape, _ = decoder
    inputs = [each.name for each in session.get_inputs()]
    outputs = [each.name for each in session.get_outputs()]
    simple = ["input_ids", "attention_mask", "position_ids"]
    assert inputs == simple + cache_names(shape, "past_key_values")
    assert outputs == ["logits", *cache_names(shape, "present"), "last_attention"]


def test_equal_parameters_give_equal_bytes(decoder):
    shape, params = decoder
    assert decoder_graph(params, shape) == decoder_graph(params, shape)
