"""llama.cpp answers as the embedded engine does, under every policy that it can serve."""

from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from reference.servers import as_documented, documented_capabilities
from scaar.core.errors import PromptTooLong
from scaar.core.types import GenerateRequest, Token
from scaar.generator.factory import open_generator
from scaar.lab.models import LAB_LM, model_folder
from scaar.testing.commands import run_scaar
from scaar.testing.server_probe import probed

from ..servers.lab_answers import POLICIES, different_answers
from ..servers.llama_cpp.llama_cpp_server import LlamaCppServer
from .conftest import settings_for

COUNT = 40
LONG = pytest.mark.long
REQUEST = GenerateRequest(
    "Question: Who is the spouse of the director of the film The Haunted Fountain?\nAnswer:",
    max_tokens=64,
)


@LONG
@pytest.mark.parametrize(
    ("policy", "openai_api"),
    [*((policy, "completions") for policy in POLICIES), ("scaar", "chat"), ("flare", "chat")],
)
def test_questions_are_answered_as_by_the_embedded_engine(
    llama_cpp: LlamaCppServer, lab_home: Path, policy: str, openai_api: str
) -> None:
    generator = {"url": llama_cpp.url, "openai_api": openai_api}
    assert not different_answers(lab_home, policy=policy, generator=generator, count=COUNT)


@pytest.mark.parametrize(
    "policy",
    [policy if policy == "scaar" else pytest.param(policy, marks=LONG) for policy in POLICIES],
)
def test_questions_are_answered_as_by_the_embedded_engine_from_a_gguf_file(
    lab_gguf: Path, lab_home: Path, policy: str
) -> None:
    generator = {"engine": "llama_cpp", "model": str(lab_gguf), "threads": "1"}
    assert not different_answers(lab_home, policy=policy, generator=generator, count=COUNT)


@LONG
def test_passages_are_the_tokens_of_the_lab(llama_cpp: LlamaCppServer) -> None:
    """So that the server reads what the embedded engine reads."""
    tokenizer = Tokenizer.from_file(str(model_folder(LAB_LM) / "tokenizer.json"))
    passages = [each["text"] for each in run_scaar("lab", "passages").records]
    texts = [
        "\n".join(f"[{number}] {text}" for number, text in enumerate(part, 1))
        for part in (passages[at : at + 20] for at in range(0, len(passages), 20))
    ]
    assert len(texts) == 400
    assert [llama_cpp.tokenize(text) for text in texts] == [
        tokenizer.encode(text, add_special_tokens=False).ids for text in texts
    ]


@LONG
@pytest.mark.parametrize("openai_api", ["completions", "chat"])
async def test_the_capabilities_are_those_of_the_documentation(
    llama_cpp: LlamaCppServer, openai_api: str
) -> None:
    found = await probed(settings_for(llama_cpp, openai_api=openai_api))
    assert documented_capabilities(f"llama.cpp, {openai_api}") == as_documented(found)


@LONG
async def test_a_cancelled_generation_ends_on_the_server(llama_cpp: LlamaCppServer) -> None:
    async with open_generator(settings_for(llama_cpp)) as generator:
        async with aclosing(generator.generate(REQUEST)) as events:
            whole = len([event async for event in events if isinstance(event, Token)])
        before = llama_cpp.metric("tokens_predicted_total")
        for _ in range(4):
            async with aclosing(generator.generate(REQUEST)) as events:
                async for event in events:
                    if isinstance(event, Token):
                        break
        # The next generation is counted after those that were cancelled.
        async with aclosing(generator.generate(replace(REQUEST, max_tokens=1))) as events:
            assert [event async for event in events]
        assert llama_cpp.metric("tokens_predicted_total") - before < 4 * whole


@LONG
async def test_a_prompt_above_the_context_is_too_long(llama_cpp: LlamaCppServer) -> None:
    async with open_generator(settings_for(llama_cpp)) as generator:
        long = replace(REQUEST, prompt="The film. " * 3000)
        with pytest.raises(PromptTooLong, match="context of the model, 2048 tokens"):
            async with aclosing(generator.generate(long)) as events:
                assert not [event async for event in events]
