"""lab-lm as a Qwen2ForCausalLM: transformers says what the embedded engine says."""

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen2ForCausalLM

from scaar.core.types import GenerateRequest
from scaar.generator.engines.continuation import Continuation
from scaar.lab import layout
from scaar.lab.models import LAB_LM, model_folder
from scaar.lab.questions import ONE_HOP, TWO_HOP, ask
from scaar.lab.world import build_world

QUESTIONS = [
    ask(film, relation).question
    for film in (*build_world(2000).known[:2], build_world(2000).tail[0])
    for relation in (next(iter(ONE_HOP)), next(iter(TWO_HOP)))
]
PROMPTS = [layout.prompt(question) for question in QUESTIONS]


@pytest.fixture(scope="module")
def loaded():
    return AutoModelForCausalLM.from_pretrained(
        model_folder(LAB_LM), attn_implementation="eager", output_loading_info=True
    )


@pytest.fixture(scope="module")
def theirs(loaded):
    return loaded[0].eval()


@pytest.fixture(scope="module")
def tokenizer():
    return AutoTokenizer.from_pretrained(model_folder(LAB_LM))


def test_every_tensor_is_taken_and_none_is_missing(loaded):
    model, told = loaded
    assert isinstance(model, Qwen2ForCausalLM)
    assert not any(told.values())


@pytest.mark.parametrize("text", [*PROMPTS, "é🙂 日本\n\n  1999", "a  b"])
def test_the_tokenizers_agree(tokenizer, language_model, text):
    ids = tokenizer(text)["input_ids"]
    assert ids == language_model.encode(text)
    assert tokenizer.decode(ids, skip_special_tokens=True) == text


@pytest.mark.parametrize("prompt", PROMPTS)
def test_logits_and_attention_agree(theirs, language_model, prompt):
    ids = language_model.encode(prompt)
    with torch.no_grad():
        expected = theirs(torch.tensor([ids]), output_attentions=True)
    logits, _ = language_model.decoder.step(ids, language_model.decoder.begin())
    np.testing.assert_allclose(logits, expected.logits[0, -1], atol=1e-4)
    attention = expected.attentions[-1][0].mean(0)
    np.testing.assert_allclose(language_model.decoder.attention(ids), attention, atol=1e-5)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_greedy_answers_agree(theirs, language_model, prompt):
    ours = Continuation(language_model, GenerateRequest(prompt, max_tokens=64))
    tokens = []
    while ours.finished is None:
        tokens += [token.id for token in ours.step()]
    read = torch.tensor([language_model.encode(prompt)])
    written = theirs.generate(
        read, attention_mask=torch.ones_like(read), max_new_tokens=64, do_sample=False
    )
    answer = written[0, read.shape[1] :].tolist()
    assert [each for each in answer if each not in language_model.end_ids] == tokens
