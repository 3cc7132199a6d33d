"""Hidden states and log-probabilities of given texts, compared with the lab model's own weights."""

import itertools
from collections.abc import AsyncIterator

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from scaar.core.errors import InvalidRequest, PromptTooLong
from scaar.core.ports import Generator
from scaar.core.types import GenerateRequest, GenerationEnd, LogprobsRequest, Token
from scaar.generator.engines.decoding import text_logprobs
from scaar.generator.factory import open_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab.models import LAB_LM, model_folder

PROMPT = "Question: Who directed the film The Haunted Fountain?\nAnswer:"


@pytest.fixture(scope="module")
def embeddings() -> np.ndarray:
    """The matrix of the embeddings, which is also that of the logits."""
    graph = onnx.load(model_folder(LAB_LM) / "model.onnx").graph
    (tensor,) = (each for each in graph.initializer if each.name == "embed")
    return numpy_helper.to_array(tensor)


@pytest.fixture
async def generator() -> AsyncIterator[Generator]:
    async with open_generator(GeneratorSettings(model=model_folder(LAB_LM))) as engine:
        yield engine


async def written(generator: Generator, **fields: object) -> tuple[list[Token], GenerationEnd]:
    request = GenerateRequest(PROMPT, **fields)  # type: ignore[arg-type]
    events = [event async for event in generator.generate(request)]
    end = events[-1]
    assert isinstance(end, GenerationEnd)
    return [event for event in events if isinstance(event, Token)], end


async def test_the_last_state_gives_the_tokens_probability(
    generator: Generator, embeddings: np.ndarray
) -> None:
    tokens, end = await written(generator, hidden_layer=3)
    assert end.finish_reason.value == "end_of_sequence"
    for token in tokens:
        logits = embeddings @ np.array(token.hidden_state)
        logprob = logits[token.id] - np.log(np.exp(logits).sum())
        assert logprob == pytest.approx(token.logprob, abs=1e-3)
    assert int(np.argmax(embeddings @ np.array(end.hidden_state))) == 2  # </s>


async def test_the_first_state_is_the_embedding_of_the_previous_token(
    generator: Generator, embeddings: np.ndarray
) -> None:
    tokens, _ = await written(generator, hidden_layer=0)
    for before, token in itertools.pairwise(tokens):
        np.testing.assert_allclose(token.hidden_state, embeddings[before.id], rtol=1e-6)


async def test_attention_and_a_hidden_state_come_together(generator: Generator) -> None:
    both, _ = await written(generator, hidden_layer=2, attention=True)
    states, _ = await written(generator, hidden_layer=2)
    rows, _ = await written(generator, attention=True)
    for one, state, row in zip(both, states, rows, strict=True):
        assert one.hidden_state == state.hidden_state
        assert one.attention == pytest.approx(row.attention, abs=1e-6)


@pytest.mark.parametrize("chunk", [2, 7, 64])
async def test_a_text_in_chunks_has_the_logprobs_of_one_pass(
    generator: Generator, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    request = LogprobsRequest(PROMPT, " The film was directed by nobody." * 12, top_tokens=3)
    monkeypatch.setattr(text_logprobs, "_CHUNK_TOKENS", 10_000)
    whole = await generator.compute_logprobs(request)
    assert len(whole.tokens) > 65
    monkeypatch.setattr(text_logprobs, "_CHUNK_TOKENS", chunk)
    parts = await generator.compute_logprobs(request)
    for one, two in zip(parts.tokens, whole.tokens, strict=True):
        assert (one.text, one.start, one.end) == (two.text, two.start, two.end)
        assert one.logprob == pytest.approx(two.logprob, abs=1e-5)
        assert one.entropy == pytest.approx(two.entropy, abs=1e-4)
        assert [each.text for each in one.top] == [each.text for each in two.top]


async def test_a_text_without_a_prompt_is_predicted_by_the_first_token_of_a_text(
    generator: Generator,
) -> None:
    found = await generator.compute_logprobs(LogprobsRequest("", "Question: Who"))
    assert found.prompt_tokens == 1  # <s>
    assert all(token.logprob is not None for token in found.tokens)


async def test_a_text_with_too_many_logprobs_is_refused(generator: Generator) -> None:
    request = LogprobsRequest(PROMPT, " a" * 5000, top_tokens=20, named_tokens=(".",))
    with pytest.raises(PromptTooLong, match="100,000 log-probabilities"):
        await generator.compute_logprobs(request)


async def test_a_named_text_that_is_not_one_token_is_refused(generator: Generator) -> None:
    with pytest.raises(InvalidRequest, match="one token of the model") as caught:
        await written(generator, named_tokens=("</s>", " a text of several tokens"))
    assert [each.field for each in caught.value.violations] == ["named_tokens"]


async def test_a_special_token_is_named_by_its_name(generator: Generator) -> None:
    tokens, end = await written(generator, named_tokens=("</s>",))
    probabilities = [np.exp(token.named[0].logprob) for token in tokens]
    assert [token.named[0].id for token in tokens] == [2] * len(tokens)
    assert max(probabilities) < 0.5
    assert end.generated_tokens == len(tokens) + 1
