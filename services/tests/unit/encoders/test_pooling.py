"""Pooling of token vectors, as the folder of a sentence encoder defines it."""

import json

import numpy as np
import pytest

from scaar.core.errors import DataCorrupt
from scaar.encoders.pooling import Pooling, VectorRecipe, read_recipe

TOKENS = np.array([[[1.0, 8.0], [3.0, 4.0], [90.0, 90.0]], [[2.0, -1.0], [4.0, 5.0], [6.0, 2.0]]])
MASK = np.array([[1, 1, 0], [1, 1, 1]])


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        (Pooling.CLS, [[1, 8], [2, -1]]),
        (Pooling.MAX, [[3, 8], [6, 5]]),
        (Pooling.MEAN, [[2, 6], [4, 2]]),
        (Pooling.MEAN_SQRT, [[4 / 2**0.5, 12 / 2**0.5], [12 / 3**0.5, 6 / 3**0.5]]),
    ],
)
def test_padding_does_not_affect_vectors(pooling, expected):
    found = VectorRecipe(pooling, False).applied(TOKENS, MASK)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert found.dtype == np.float32


def test_a_normalised_vector_has_length_one():
    found = VectorRecipe(Pooling.MEAN, True).applied(TOKENS, MASK)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-6)


def test_a_vector_of_zeros_stays_one():
    found = VectorRecipe(Pooling.MEAN, True).applied(np.zeros((1, 2, 3)), np.ones((1, 2)))
    assert found.tolist() == [[0, 0, 0]]


@pytest.mark.parametrize("pooling", Pooling)
def test_the_vector_of_a_text_without_tokens_is_zero(pooling):
    found = VectorRecipe(pooling, True).applied(TOKENS, np.array([[0, 0, 0], [1, 1, 1]]))
    assert found[0].tolist() == [0, 0]
    assert np.linalg.norm(found[1]) == pytest.approx(1)


def test_pooling_does_not_change_the_tokens():
    tokens = TOKENS.astype(np.float32)
    VectorRecipe(Pooling.CLS, True).applied(tokens, MASK)
    np.testing.assert_array_equal(tokens, TOKENS)


def test_a_folder_without_modules_is_pooled_by_the_mean_and_not_normalised(tmp_path):
    assert read_recipe(tmp_path) == VectorRecipe(Pooling.MEAN, False)


def written(folder, kinds, pooling):
    modules = [{"path": kind, "type": f"sentence_transformers.models.{kind}"} for kind in kinds]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "Pooling").mkdir()
    (folder / "Pooling/config.json").write_text(json.dumps(pooling))
    return folder


@pytest.mark.parametrize("pooling", list(Pooling))
def test_the_only_true_flag_is_the_pooling(tmp_path, pooling):
    flags = {f"pooling_mode_{each}": each is pooling for each in Pooling}
    folder = written(tmp_path, ["Transformer", "Pooling", "Normalize"], {**flags, "other": 3})
    assert read_recipe(folder) == VectorRecipe(pooling, True)


@pytest.mark.parametrize(
    "pooling",
    [
        {},
        {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
        {"pooling_mode_lasttoken": True},
    ],
)
def test_another_pooling_is_refused_with_the_supported_ones(tmp_path, pooling):
    folder = written(tmp_path, ["Transformer", "Pooling"], pooling)
    with pytest.raises(DataCorrupt, match="one of pooling_mode_cls_token, .* must be true"):
        read_recipe(folder)


@pytest.mark.parametrize("kinds", [["Transformer", "Pooling", "Dense"], ["CLIPModel"]])
def test_a_step_that_is_not_known_is_refused_by_its_name(tmp_path, kinds):
    folder = written(tmp_path, kinds, {"pooling_mode_mean_tokens": True})
    with pytest.raises(DataCorrupt, match=f"not '{kinds[-1]}'"):
        read_recipe(folder)


@pytest.mark.parametrize("content", ["{", "{}", "[3]"])
def test_damaged_modules_are_refused(tmp_path, content):
    (tmp_path / "modules.json").write_text(content)
    with pytest.raises(DataCorrupt, match=r"modules\.json"):
        read_recipe(tmp_path)
