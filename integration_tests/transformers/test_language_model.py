"""lab-lm as a Qwen2ForCausalLM: transformers says what the embedded engine says."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen2ForCausalLM

from scaar.core.types import GenerateRequest, Token
from scaar.generator.engines.decoding.continuation import Continuation
from scaar.generator.engines.decoding.prefix_store import PrefixStore
from scaar.generator.engines.decoding.torch_decoder import TorchDecoder
from scaar.lab import layout
from scaar.lab.models import LAB_LM, model_folder
from scaar.lab.passages import passages_of
from scaar.lab.questions import draw_questions
from scaar.lab.world import build_world

WORLD = build_world(2000)
PASSAGES = {passage.id: passage.text for passage in passages_of(WORLD)}
DISTRACTOR = "film-0001"
MAX_TOKENS = 64


def prompts() -> Iterator[Any]:
    """50 lab prompts, every other two without passages: of known films and of unknown ones."""
    for number, question in enumerate(draw_questions(WORLD, count=50)):
        names = [] if number % 4 < 2 else [DISTRACTOR, *question.supports]
        yield pytest.param(
            layout.prompt(question.question, [PASSAGES[name] for name in names]),
            id=f"{question.id}-{len(names)}",
        )


@dataclass(frozen=True)
class Answered:
    """One prompt's greedy answer: by the engine, and by transformers, its end included."""

    prompt_ids: list[int]
    ours: list[Token]
    generated_tokens: int
    theirs: list[int]
    logprobs: torch.Tensor


@pytest.fixture(scope="module")
def loaded():
    return AutoModelForCausalLM.from_pretrained(
        model_folder(LAB_LM), attn_implementation="eager", output_loading_info=True
    )


@pytest.fixture(scope="module")
def model(loaded):
    return loaded[0].eval()


@pytest.fixture(scope="module")
def tokenizer():
    return AutoTokenizer.from_pretrained(model_folder(LAB_LM))


@pytest.fixture(scope="module", params=prompts())
def answered(request, model, tokenizer, language_model):
    requested = GenerateRequest(request.param, max_tokens=MAX_TOKENS)
    ours = Continuation(language_model, requested, PrefixStore(0))
    tokens: list[Token] = []
    while ours.finished is None:
        tokens += ours.step()
    read = tokenizer(request.param, return_tensors="pt")
    written = model.generate(
        **read, max_new_tokens=MAX_TOKENS, output_logits=True, return_dict_in_generate=True
    )
    length = read["input_ids"].shape[1]
    return Answered(
        prompt_ids=written.sequences[0, :length].tolist(),
        ours=tokens,
        generated_tokens=ours.generated_tokens,
        theirs=written.sequences[0, length:].tolist(),
        logprobs=torch.stack(written.logits)[:, 0].double().log_softmax(-1),
    )


def test_every_tensor_is_taken_and_none_is_missing(loaded):
    model, reported = loaded
    assert isinstance(model, Qwen2ForCausalLM)
    assert not any(reported.values())


def test_greedy_answers_agree(answered, language_model):
    written = [each for each in answered.theirs if each not in language_model.end_ids]
    assert [token.id for token in answered.ours] == written
    assert answered.generated_tokens == len(answered.theirs)


def test_log_probabilities_and_entropies_agree(answered):
    probabilities = answered.logprobs.exp()
    entropies = -(probabilities * answered.logprobs).sum(-1)
    for number, token in enumerate(answered.ours):
        assert token.logprob == pytest.approx(answered.logprobs[number, token.id].item(), abs=1e-4)
        assert token.entropy == pytest.approx(entropies[number].item(), abs=1e-4)


def test_attention_of_the_last_layer_agrees(answered, model, language_model):
    ids = [*answered.prompt_ids, *(token.id for token in answered.ours)]
    with torch.no_grad():
        attentions = model(torch.tensor([ids]), output_attentions=True).attentions
    expected = attentions[-1][0].mean(0).numpy()
    decoder = language_model.decoder
    _, weights, _ = decoder.step_attending(ids, decoder.begin())
    np.testing.assert_allclose(weights, expected, atol=1e-5)


def test_the_attention_that_each_head_receives_agrees(answered, model, language_model):
    ids = [token.id for token in answered.ours]
    with torch.no_grad():
        attentions = model(torch.tensor([ids]), output_attentions=True).attentions
    expected = attentions[-1][0].amax(dim=1).numpy()
    for decoder in (language_model.decoder, TorchDecoder(model, gives_attention=True)):
        most, _ = decoder.step_attended(ids, decoder.begin())
        np.testing.assert_allclose(most, expected, atol=1e-5)


@pytest.mark.long
def test_a_text_that_fills_the_context_is_read_alike(model, language_model):
    ids = language_model.encode(" ".join(PASSAGES.values()))[: language_model.max_total_tokens]
    with torch.no_grad():
        expected = model(torch.tensor([ids])).logits[0, -1].numpy()
    logits, _ = language_model.decoder.step(ids, language_model.decoder.begin())
    # Rotary angles in single precision: that of position 2,000 is known to 1e-4.
    np.testing.assert_allclose(logits, expected, atol=1e-3)
