"""Small models for the tests of what makes and what runs models."""

import pytest


@pytest.fixture(scope="session")
def decoder():
    """Shape and random parameters, every one of them different from zero and one."""
    from scaar.lab.training.language_model import DecoderShape, initial_params
    from scaar.lab.vocabulary import build_tokenizer

    shape = DecoderShape(
        build_tokenizer().get_vocab_size(),
        hidden_size=32,
        num_hidden_layers=2,
        intermediate_size=48,
        max_position_embeddings=128,
    )
    return shape, _shaken(initial_params(shape, 3))


@pytest.fixture(scope="session")
def encoder():
    """Shape and random parameters, every one of them different from zero and one."""
    from scaar.lab.training.cross_encoder import EncoderShape, initial_params
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


def _shaken(params):
    import jax
    import numpy as np

    random = np.random.default_rng(4)
    return jax.tree.map(
        lambda x: np.asarray(x + 0.1 * random.normal(size=x.shape), np.float32), params
    )
