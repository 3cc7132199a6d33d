"""Opening a generator: missing, damaged and foreign files are named."""

import json
import shutil

import pytest

from scaar.core.errors import CapabilityMissing, DataCorrupt, InvalidRequest, NotFound
from scaar.core.types import RecommendedSettings
from scaar.generator.factory import open_generator
from scaar.generator.settings import GeneratorSettings


@pytest.fixture
def folder(language_model_folder, tmp_path):
    return shutil.copytree(language_model_folder, tmp_path / "lm")


async def described(folder):
    async with open_generator(GeneratorSettings(model=folder)) as generator:
        return await generator.describe_model()


def without_report(folder):
    (folder / "training_report.json").unlink()


async def test_without_a_model_the_error_names_the_setting():
    with pytest.raises(NotFound, match="SCAAR_GENERATOR_MODEL"):
        await described(None)


async def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(NotFound, match="nowhere"):
        await described(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["model.onnx", "config.json", "tokenizer.json"])
async def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(NotFound, match=name):
        await described(folder)


@pytest.mark.parametrize("name", ["model.onnx", "config.json", "tokenizer.json"])
@pytest.mark.parametrize("kept", [0, 100, -1])
async def test_a_truncated_file_is_detected_by_its_digest(folder, name, kept):
    (folder / name).write_bytes((folder / name).read_bytes()[:kept])
    with pytest.raises(DataCorrupt, match=name):
        await described(folder)


@pytest.mark.parametrize("name", ["model.onnx", "config.json", "tokenizer.json"])
@pytest.mark.parametrize("content", [b"", b"no such thing", b"[]"])
async def test_a_foreign_file_is_detected_without_a_digest(folder, name, content):
    without_report(folder)
    (folder / name).write_bytes(content)
    with pytest.raises(DataCorrupt, match=name):
        await described(folder)


async def test_half_a_model_file_is_detected_without_a_digest(folder):
    without_report(folder)
    whole = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataCorrupt, match=r"model\.onnx"):
        await described(folder)


async def test_a_model_of_another_kind_is_refused(folder, cross_encoder_folder):
    without_report(folder)
    (folder / "scaar.json").unlink()
    shutil.copy(cross_encoder_folder / "model.onnx", folder / "model.onnx")
    with pytest.raises(DataCorrupt, match="not a decoder with a key-value cache"):
        await described(folder)


async def test_a_model_in_optimums_other_place_is_found(folder):
    without_report(folder)
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert (await described(folder)).model == "lm"


async def test_recommended_settings_and_profile_are_the_folders(folder):
    advice = {"prompt_profile": "lab", "recommended": {"scaar": {"theta": 0.2, "alpha": 40}}}
    (folder / "scaar.json").write_text(json.dumps(advice))
    model = await described(folder)
    assert model.recommended == (RecommendedSettings("scaar", theta=0.2, alpha=40.0),)
    assert isinstance(model.recommended[0].alpha, float), "as it comes back over gRPC"
    (folder / "scaar.json").unlink()
    assert (await described(folder)).prompt_profile == "scaar"


@pytest.mark.parametrize(
    "advice",
    [
        [],
        {"prompt_profile": 1},
        {"recommended": []},
        {"hidden_states": "gather_18"},
        {"hidden_states": ["gather_18"]},
        {"hidden_states": ["gather_18", 75]},
        {"recommended": {"scaar": 1}},
        {"recommended": {"scaar": {"theta": "high"}}},
        {"recommended": {"scaar": {"zeta": 1}}},
        {"recommended": {"scaar": {"top_k": 1.5}}},
    ],
)
async def test_advice_that_makes_no_sense_is_named(folder, advice):
    (folder / "scaar.json").write_text(json.dumps(advice))
    with pytest.raises(DataCorrupt, match=r"scaar\.json"):
        await described(folder)


async def test_hidden_states_that_the_model_lacks_are_detected(folder):
    (folder / "scaar.json").write_text(json.dumps({"hidden_states": ["embeddings", "layer_1"]}))
    with pytest.raises(DataCorrupt, match=r"hidden states embeddings, layer_1"):
        await described(folder)


async def test_the_revision_is_that_of_the_model_file(folder, language_model_folder):
    import hashlib

    digest = hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest()
    assert (await described(folder)).revision == digest[:12]


async def test_an_engine_without_its_libraries_names_the_extra():
    """PyTorch is 5 GB, and not among what these tests install."""
    settings = GeneratorSettings(engine="transformers", model="some/model")
    with pytest.raises(CapabilityMissing, match=r"install scaar\[transformers\]$") as caught:
        async with open_generator(settings):
            pass
    assert caught.value.metadata == {"engine": "transformers"}


@pytest.mark.parametrize("setting", [{"device": "cpu"}, {"dtype": "float32"}, {"attention": False}])
async def test_settings_of_another_engine_are_named(folder, setting):
    (name,) = setting
    with pytest.raises(
        InvalidRequest, match=rf"^SCAAR_GENERATOR_{name.upper()}: requires engine transf"
    ):
        async with open_generator(GeneratorSettings(model=folder, **setting)):
            pass
