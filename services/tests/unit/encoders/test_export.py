"""Export of an encoder's folder, which is atomic."""

import shutil
import sys

import numpy as np
import onnx
import pytest

from scaar.encoders.sentence_encoder import SentenceEncoder
from scaar.testing.commands import run_scaar

TEXTS = ["The film was made by Ann.", "Who?"]


def export(folder, to):
    return run_scaar("models", "export-encoder", str(folder), "--to", str(to))


def test_a_folder_with_an_onnx_file_keeps_its_vectors(sentence_encoder_folder, tmp_path):
    ran = export(sentence_encoder_folder, tmp_path / "encoder")
    assert ran.status == 0, ran.err
    assert "vectors of 32 numbers, texts of at most 40 tokens" in ran.out
    before, after = (
        SentenceEncoder.open(folder, threads=1)
        for folder in (sentence_encoder_folder, tmp_path / "encoder")
    )
    assert after.revision == before.revision
    np.testing.assert_array_equal(after.encode(TEXTS), before.encode(TEXTS))


def test_weights_beside_the_onnx_file_are_copied(sentence_encoder_folder, tmp_path):
    given, to = shutil.copytree(sentence_encoder_folder, tmp_path / "given"), tmp_path / "encoder"
    model = onnx.load(given / "model.onnx")
    onnx.save(model, given / "model.onnx", save_as_external_data=True, location="model.onnx_data")
    assert export(given, to).status == 0
    assert (to / "model.onnx_data").read_bytes() == (given / "model.onnx_data").read_bytes()


def test_existing_files_are_left_unchanged(sentence_encoder_folder, tmp_path):
    (tmp_path / "encoder").mkdir()
    ran = export(sentence_encoder_folder, tmp_path / "encoder")
    assert ran.status == 1
    assert "exists already" in ran.err


def test_a_folder_without_an_encoder_leaves_no_files(cross_encoder_folder, tmp_path):
    ran = export(cross_encoder_folder, tmp_path / "encoder")
    assert ran.status == 1
    assert f"{cross_encoder_folder}/model.onnx is not a sentence encoder" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_weights_is_refused_with_advice(
    sentence_encoder_folder, tmp_path, monkeypatch
):
    # As where it is not installed.
    monkeypatch.setitem(sys.modules, "torch", None)
    folder = shutil.copytree(sentence_encoder_folder, tmp_path / "given")
    (folder / "model.onnx").unlink()
    ran = export(folder, tmp_path / "encoder")
    assert ran.status == 1
    assert "Install scaar[scorer,transformers]" in ran.err
    assert "--task feature-extraction" in ran.err
    assert not (tmp_path / "encoder").exists()


@pytest.mark.parametrize(
    ("model", "to", "said"),
    [("nowhere", "encoder", "does not exist"), (".", "a/b", "--to")],
)
def test_a_wrong_folder_is_named(sentence_encoder_folder, tmp_path, model, to, said):
    folder = sentence_encoder_folder if model == "." else tmp_path / model
    ran = export(folder, tmp_path / to)
    assert ran.status != 0
    assert said in ran.err


def test_a_folder_that_cannot_be_written_is_named(sentence_encoder_folder):
    ran = export(sentence_encoder_folder, "/proc/encoder")
    assert ran.status == 2
    assert "--to: /proc/encoder cannot be written: No such file or directory" in ran.err
