"""Export of a random cross-encoder for Triton, which is atomic and has golden pairs."""

import json
import shutil
import sys

import numpy as np
import pytest

from scaar.core.errors import AlreadyExists, DataCorrupt, InvalidRequest, NotFound
from scaar.encoders.cross_encoder import open_cross_encoder
from scaar.scorer.triton_repository import export as exporting
from scaar.scorer.triton_repository.export import export_scorer
from scaar.scorer.triton_repository.golden import GoldenPair, check_parity, read_golden
from scaar.scorer.triton_repository.model_config import Backend
from scaar.testing.commands import run_scaar

PAIR = GoldenPair("a", "b", (1, 2), (0, 1), logit=0.0)


def names_of(folder):
    return sorted(each.relative_to(folder).as_posix() for each in folder.rglob("*"))


@pytest.mark.parametrize(
    ("backend", "onnx"),
    [("tensorrt", "model.onnx"), ("onnx", "1/model.onnx"), ("python", "1/model.onnx")],
)
def test_a_repository_contains_everything_that_triton_needs(
    cross_encoder_folder, tmp_path, backend, onnx
):
    to = tmp_path / "new" / "repository"
    ran = run_scaar(
        *("models", "export-scorer", str(cross_encoder_folder)),
        *("--to", str(to), "--backend", backend, "--max-batch-size", "16"),
    )
    assert (ran.status, ran.err) == (0, "")
    folder = to / "contribution_scorer"
    assert str(folder) in ran.out
    assert (folder / onnx).read_bytes() == (cross_encoder_folder / "model.onnx").read_bytes()
    assert "max_batch_size: 16" in (folder / "config.pbtxt").read_text()
    assert (folder / "1" / "model.py").exists() == (backend == "python")
    assert names_of(folder / "warmup") == ["attention_mask_64", "attention_mask_96"]
    assert names_of(to.parent) == sorted([to.name, *(f"{to.name}/{n}" for n in names_of(to))])


def test_golden_pairs_are_of_every_width_with_the_models_own_logits(cross_encoder_folder, tmp_path):
    export_scorer(cross_encoder_folder, tmp_path / "r", backend=Backend.ONNX)
    golden = read_golden(tmp_path / "r" / "contribution_scorer" / "golden.json")
    model = open_cross_encoder(cross_encoder_folder, threads=1)
    assert golden.widths == (64, 96)
    lengths = [len(pair.input_ids) for pair in golden.pairs]
    assert min(lengths) <= 64 < max(lengths) <= 96
    encoded = model.encode([(pair.first, pair.second) for pair in golden.pairs])
    assert [tuple(each.ids) for each in encoded] == [pair.input_ids for pair in golden.pairs]
    logits = model.logits(encoded)[:, 0]
    np.testing.assert_allclose(logits, [pair.logit for pair in golden.pairs], atol=1e-4)


def test_existing_files_are_kept_without_force(cross_encoder_folder, tmp_path):
    to = tmp_path / "repository"
    export_scorer(cross_encoder_folder, to, backend=Backend.ONNX)
    before = names_of(to)
    with pytest.raises(AlreadyExists, match="--force"):
        export_scorer(cross_encoder_folder, to, backend=Backend.PYTHON)
    assert names_of(to) == before
    export_scorer(cross_encoder_folder, to, backend=Backend.PYTHON, force=True)
    assert "contribution_scorer/1/model.py" in names_of(to)
    assert names_of(tmp_path)[0] == "repository"


def test_a_folder_with_other_files_is_never_replaced(cross_encoder_folder, tmp_path):
    (tmp_path / "other").mkdir()
    with pytest.raises(InvalidRequest, match="contains other files"):
        export_scorer(cross_encoder_folder, tmp_path, backend=Backend.ONNX, force=True)
    assert names_of(tmp_path) == ["other"]


def test_a_failed_export_leaves_existing_files(cross_encoder_folder, tmp_path, monkeypatch):
    to = tmp_path / "repository"
    export_scorer(cross_encoder_folder, to, backend=Backend.ONNX)
    before = names_of(tmp_path)

    def no_room(path, golden):
        raise OSError("no space left on device")

    monkeypatch.setattr(exporting, "write_golden", no_room)
    with pytest.raises(InvalidRequest, match="no space left"):
        export_scorer(cross_encoder_folder, to, backend=Backend.PYTHON, force=True)
    assert names_of(tmp_path) == before


def test_a_checkpoint_without_an_onnx_file_says_how_to_make_one(
    cross_encoder_folder, tmp_path, monkeypatch
):
    # As where it is not installed.
    monkeypatch.setitem(sys.modules, "torch", None)
    folder = shutil.copytree(cross_encoder_folder, tmp_path / "ce")
    (folder / "model.onnx").unlink()
    ran = run_scaar(
        *("models", "export-scorer", str(folder), "--to", str(tmp_path / "r"), "--backend", "onnx")
    )
    assert ran.status == 1
    assert "Install scaar[scorer,transformers]" in ran.err
    assert "optimum-cli export onnx" in ran.err
    assert not (tmp_path / "r").exists()


def test_a_repository_that_cannot_be_written_is_named(cross_encoder_folder, tmp_path):
    (tmp_path / "file").write_text("")
    to = tmp_path / "file" / "repository"
    with pytest.raises(InvalidRequest, match=f"--to: {to} cannot be written: File exists"):
        export_scorer(cross_encoder_folder, to, backend=Backend.ONNX)


def test_a_model_of_another_kind_is_refused(language_model_folder, tmp_path):
    with pytest.raises(DataCorrupt, match="not a cross-encoder with one logit"):
        export_scorer(language_model_folder, tmp_path / "r", backend=Backend.ONNX)
    assert names_of(tmp_path) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "does not contain golden pairs"),
        ("{}", "does not contain golden pairs"),
        (
            json.dumps(
                {"inputs": [], "widths": [], "max_batch_size": 1, "padding": 0, "pairs": []}
            ),
            "no golden",
        ),
    ],
)
def test_a_damaged_file_of_golden_pairs_is_named(tmp_path, content, said):
    path = tmp_path / "golden.json"
    with pytest.raises(NotFound, match="export the model again"):
        read_golden(path)
    path.write_text(content)
    with pytest.raises(DataCorrupt, match=said):
        read_golden(path)


def test_parity_is_of_similarities_and_returns_the_largest_drift():
    assert check_parity([PAIR, PAIR], [0.0, 0.02]) == pytest.approx(0.005, abs=1e-4)


@pytest.mark.parametrize("logits", [[0.0, 0.05], [0.0, float("nan")], [float("inf"), 0.0], [0.0]])
def test_drift_and_invalid_numbers_are_refused(logits):
    with pytest.raises(DataCorrupt):
        check_parity([PAIR, PAIR], logits)
