"""Small models for the tests of what makes and what runs models."""

import json
import shutil

import pytest


@pytest.fixture(scope="session")
def decoder():
    """Shape and random parameters, every one of them different from zero and one."""
    from scaar.lab.shapes import DecoderShape
    from scaar.lab.training.language_model import initial_params
    from scaar.lab.vocabulary import build_tokenizer

    shape = DecoderShape(
        build_tokenizer().get_vocab_size(),
        hidden_size=32,
        num_hidden_layers=2,
        intermediate_size=48,
        max_position_embeddings=128,
    )
    return shape, _shaken(initial_params(shape, 4))


@pytest.fixture(scope="session")
def encoder():
    """Shape and random parameters, every one of them different from zero and one."""
    from scaar.lab.shapes import EncoderShape
    from scaar.lab.training.cross_encoder import initial_params
    from scaar.lab.vocabulary import build_tokenizer

    shape = EncoderShape(
        build_tokenizer(pairs=True).get_vocab_size(),
        hidden_size=32,
        intermediate_size=48,
        max_position_embeddings=96,
    )
    return shape, _shaken(initial_params(shape, 3))


@pytest.fixture(scope="session")
def language_model_folder(decoder, tmp_path_factory):
    """The checkpoint folder of the random language model."""
    from scaar.lab.export import export_language_model

    folder = tmp_path_factory.mktemp("models") / "random-lm"
    export_language_model(decoder[1], decoder[0], folder, {})
    return folder


@pytest.fixture(scope="session")
def cross_encoder_folder(encoder, tmp_path_factory):
    """The checkpoint folder of the random cross-encoder."""
    from scaar.lab.export import export_cross_encoder

    folder = tmp_path_factory.mktemp("models") / "random-ce"
    export_cross_encoder(encoder[1], encoder[0], folder, {})
    return folder


@pytest.fixture(scope="session")
def sentence_encoder_folder(encoder, cross_encoder_folder, tmp_path_factory):
    """The random cross-encoder without its head; mean of the tokens' vectors, of length 1."""
    from scaar.lab.export.onnx_encoder import sentence_encoder_graph

    shape, params = encoder
    folder = tmp_path_factory.mktemp("models") / "random-encoder"
    folder.mkdir()
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(cross_encoder_folder / name, folder / name)
    (folder / "model.onnx").write_bytes(sentence_encoder_graph(params, shape))
    kinds = ("Transformer", "Pooling", "Normalize")
    modules = [
        {"path": f"{place}_{kind}", "type": f"sentence_transformers.models.{kind}"}
        for place, kind in enumerate(kinds)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    pooling = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling/config.json").write_text(json.dumps(pooling))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 40}')
    return folder


def _shaken(params):
    import jax
    import numpy as np

    random = np.random.default_rng(4)
    return jax.tree.map(
        lambda x: np.asarray(x + 0.1 * random.normal(size=x.shape), np.float32), params
    )
