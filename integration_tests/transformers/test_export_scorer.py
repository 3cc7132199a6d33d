"""A checkpoint without an ONNX file is exported for Triton by way of transformers."""

import shutil
import warnings

import numpy as np
import pytest

from scaar.core.errors import DataCorrupt
from scaar.encoders.pair_reader import TokenPair
from scaar.lab.models import LAB_CROSS_ENCODER, model_folder
from scaar.scorer.triton_repository.export import export_scorer
from scaar.scorer.triton_repository.golden import read_golden
from scaar.scorer.triton_repository.model_config import Backend


@pytest.fixture
def without_onnx(tmp_path):
    folder = shutil.copytree(model_folder(LAB_CROSS_ENCODER), tmp_path / "ce")
    for name in ("model.onnx", "training_report.json"):
        (folder / name).unlink()
    return folder


def test_the_exported_model_has_the_logits_of_the_shipped_model(
    without_onnx, cross_encoder, tmp_path
):
    folder = export_scorer(without_onnx, tmp_path / "repository", backend=Backend.ONNX)
    golden = read_golden(folder / "golden.json")
    pairs = [TokenPair(pair.input_ids, pair.token_type_ids) for pair in golden.pairs]
    expected = cross_encoder.logits(pairs)[:, 0]
    np.testing.assert_allclose([pair.logit for pair in golden.pairs], expected, atol=1e-4)
    assert golden.inputs == ("input_ids", "attention_mask", "token_type_ids")


def test_a_roberta_is_exported_without_types_of_tokens(without_onnx, tmp_path):
    from transformers import RobertaConfig, RobertaForSequenceClassification

    config = RobertaConfig(
        vocab_size=1181,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=130,
        num_labels=1,
        type_vocab_size=1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        RobertaForSequenceClassification(config).save_pretrained(without_onnx)
    folder = export_scorer(without_onnx, tmp_path / "repository", backend=Backend.TENSORRT)
    golden = read_golden(folder / "golden.json")
    assert golden.inputs == ("input_ids", "attention_mask")
    assert golden.widths == (64, 128)
    assert golden.padding == 1


def test_a_checkpoint_without_weights_is_reported(without_onnx, tmp_path):
    (without_onnx / "model.safetensors").unlink()
    with pytest.raises(DataCorrupt, match="transformers cannot open"):
        export_scorer(without_onnx, tmp_path / "repository", backend=Backend.ONNX)
    assert not (tmp_path / "repository").exists()
