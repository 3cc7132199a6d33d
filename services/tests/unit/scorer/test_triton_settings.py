"""Settings that a scorer on Triton needs before it calls the server."""

import json
import shutil

import pytest

from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound
from scaar.scorer.factory import open_scorer
from scaar.scorer.settings import ScorerSettings


async def opened(**given):
    async with open_scorer(ScorerSettings(engine="triton", **given)) as scorer:
        return scorer


async def test_no_server_set_says_what_to_set(cross_encoder_folder):
    with pytest.raises(InvalidRequest, match="SCAAR_SCORER_TRITON_TARGET"):
        await opened(model=cross_encoder_folder)


async def test_no_model_folder_set_says_what_to_set():
    with pytest.raises(NotFound, match="SCAAR_SCORER_MODEL"):
        await opened(triton_target="127.0.0.1:1")


async def test_the_folder_needs_a_tokenizer_and_no_weights(cross_encoder_folder, tmp_path):
    folder = shutil.copytree(cross_encoder_folder, tmp_path / "ce")
    (folder / "model.onnx").unlink()
    assert await opened(model=folder, triton_target="127.0.0.1:1")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(NotFound, match=r"tokenizer\.json"):
        await opened(model=folder, triton_target="127.0.0.1:1")


async def test_the_configuration_is_read_as_in_the_embedded_scorer(cross_encoder_folder, tmp_path):
    folder = shutil.copytree(cross_encoder_folder, tmp_path / "ce")
    config = json.loads((folder / "config.json").read_text())
    (folder / "training_report.json").unlink()
    (folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": "many"}))
    with pytest.raises(DataCorrupt, match="max_position_embeddings must be a whole number"):
        await opened(model=folder, triton_target="127.0.0.1:1")
