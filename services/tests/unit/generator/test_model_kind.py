"""The kind of a model: by setting, else by its own name."""

from pathlib import Path
from typing import Any

import pytest

from scaar.core.types import ModelKind
from scaar.generator.factory import open_generator
from scaar.generator.model_kind import find_kind
from scaar.generator.settings import GeneratorSettings
from scaar.model_store.catalogue import CATALOGUE


def kind_of(*names: str, **settings: Any) -> str:
    return str(find_kind(GeneratorSettings.model_validate(settings), names))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Qwen2.5-Coder-0.5B-Instruct", "contains instruct"),
        ("llama3.2:1b-instruct-q4_K_M", "contains instruct"),
        ("deepseek-chat", "contains chat"),
        ("gemma-3-1b-it", "contains -it"),
        ("gemma3:1b-it-qat", "contains -it"),
    ],
)
def test_the_name_of_an_instruct_model_says_so(name: str, reason: str) -> None:
    assert kind_of(name) == f"instruct (the name {name} {reason})"


@pytest.mark.parametrize("name", ["Qwen2.5-0.5B", "gemma-3-1b-pt", "bert-italian", "/chat/llama"])
def test_other_models_are_base_models(name: str) -> None:
    assert kind_of(name).startswith("base (no instruct, chat or -it in the name ")


@pytest.mark.parametrize("name", ["qwen3-0.6b", "/models/Qwen3-0.6B-Q8_0.gguf"])
def test_the_catalogue_knows_models_whose_name_does_not_say_so(name: str) -> None:
    assert kind_of(name) == "instruct (qwen3-0.6b in the catalogue of models)"


def test_the_catalogue_knows_a_file_under_any_name() -> None:
    found = find_kind(GeneratorSettings(), ("model.gguf",), sha256=CATALOGUE[0].sha256)
    assert str(found) == f"instruct ({CATALOGUE[0].name} in the catalogue of models)"


def test_the_first_telling_name_counts() -> None:
    assert kind_of("checkpoint-500", "org/SmolLM2-135M-Instruct") == (
        "instruct (the name SmolLM2-135M-Instruct contains instruct)"
    )


@pytest.mark.parametrize("kind", ["base", "instruct"])
def test_the_setting_overrides_the_name(kind: str) -> None:
    for name in ("llama", "llama-instruct"):
        assert kind_of(name, model_kind=kind) == f"{kind} (SCAAR_GENERATOR_MODEL_KIND)"


@pytest.mark.parametrize(
    ("setting", "value"),
    [("openai_api", "chat"), ("chat_template", True), ("chat_template_file", "/template")],
)
def test_a_setting_for_instruct_models_states_the_kind(setting: str, value: Any) -> None:
    stated = f"SCAAR_GENERATOR_{setting.upper()}"
    assert kind_of("llama", **{setting: value}) == f"instruct ({stated})"
    assert kind_of("llama", **{setting: value}, model_kind="base").startswith("base ")


async def test_a_folder_that_names_its_profile_keeps_it(language_model_folder: Path) -> None:
    settings = GeneratorSettings(model=str(language_model_folder))
    async with open_generator(settings) as generator:
        described = await generator.describe_model()
    assert described.kind is ModelKind.BASE
