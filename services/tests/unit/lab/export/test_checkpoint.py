import hashlib
import json

import pytest

from scaar.lab.export import export_cross_encoder, export_language_model


def test_the_report_contains_the_digest_of_every_file(decoder, tmp_path):
    shape, params = decoder
    folder = tmp_path / "models" / "lm"
    export_language_model(params, shape, folder, {"seed": 1})
    report = json.loads((folder / "training_report.json").read_text())
    assert report["seed"] == 1
    assert set(report["files"]) == {
        "config.json",
        "generation_config.json",
        "model.onnx",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    for name, digest in report["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    advice = json.loads((folder / "scaar.json").read_text())
    assert advice["prompt_profile"] == "lab"
    assert len(advice["hidden_states"]) == shape.num_hidden_layers + 1
    assert list(folder.parent.iterdir()) == [folder]


def test_a_repeated_export_gives_equal_bytes_and_keeps_other_files(encoder, tmp_path):
    shape, params = encoder
    folder = tmp_path / "ce"
    export_cross_encoder(params, shape, folder, {})
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / "scaar.json").write_text("{}")
    export_cross_encoder(params, shape, folder, {})
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert after == {**before, "scaar.json": b"{}"}


def test_a_failed_export_leaves_the_folder_unchanged(encoder, tmp_path):
    shape, params = encoder
    folder = tmp_path / "ce"
    export_cross_encoder(params, shape, folder, {})
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(TypeError):
        export_cross_encoder(params, shape, folder, {"not": object()})
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert list(tmp_path.iterdir()) == [folder]
