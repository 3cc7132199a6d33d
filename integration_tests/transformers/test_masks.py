"""Steps of random models equal one run over the whole text, whatever their attention sees."""

import numpy as np
import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    BloomConfig,
    GemmaConfig,
    GPT2Config,
    GPTNeoXConfig,
    LlamaConfig,
    MistralConfig,
    PretrainedConfig,
    Qwen2Config,
)

from scaar.generator.engines.decoding.torch_decoder import TorchDecoder

SIZES = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}
WINDOW = 4
CONFIGS = {
    "llama": LlamaConfig(**SIZES, num_key_value_heads=2),
    "qwen2": Qwen2Config(**SIZES, num_key_value_heads=2),
    "gemma": GemmaConfig(**SIZES, num_key_value_heads=2, head_dim=8),
    "gpt_neox": GPTNeoXConfig(**SIZES),
    "gpt2": GPT2Config(vocab_size=64, n_embd=32, n_layer=2, n_head=4, n_positions=64),
    "mistral with a window": MistralConfig(**SIZES, num_key_value_heads=2, sliding_window=WINDOW),
    "bloom": BloomConfig(vocab_size=64, hidden_size=32, n_layer=2, n_head=4),
}
TEXTS = ([5, 9, 3, 60, 17, 22, 8, 8, 41, 2], [30, 1, 7], [12, 50, 6, 44, 19, 23])


def decoder_of(config: PretrainedConfig, attention: str = "eager") -> TorchDecoder:
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, attn_implementation=attention)
    return TorchDecoder(model.eval(), gives_attention=attention == "eager")


def whole(decoder: TorchDecoder, ids: list[int]) -> np.ndarray:
    with torch.inference_mode():
        return np.asarray(decoder.network(torch.tensor([ids])).logits[0])


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_chunks_of_any_size_read_as_the_whole_text(name: str, attention: str) -> None:
    if name == "bloom" and attention == "sdpa":
        attention = "eager"  # it has no other
    decoder = decoder_of(CONFIGS[name], attention)
    for text in TEXTS:
        expected = whole(decoder, text)
        for first in range(1, len(text)):
            logits, cache = decoder.step(text[:first], decoder.begin())
            assert logits == pytest.approx(expected[first - 1], abs=1e-4)
            rest, _ = decoder.step_whole(text[first:], cache)
            assert rest == pytest.approx(expected[first:], abs=1e-4)


@pytest.mark.parametrize("name", CONFIGS)
def test_rows_of_different_lengths_read_as_the_whole_texts(name: str) -> None:
    decoder = decoder_of(CONFIGS[name])
    if not decoder.gives_batches:
        assert name == "bloom"
        return
    batch = decoder.open_batch()
    for text in TEXTS:
        batch.join(decoder.step(text[:-2], decoder.begin())[1])
    for at in (-2, -1):
        found = batch.step([text[at] for text in TEXTS], attention=True)
        for text, (logits, paid) in zip(TEXTS, found, strict=True):
            assert logits == pytest.approx(whole(decoder, text)[at], abs=1e-4)
            assert paid is not None
            assert len(paid) == len(text) + at + 1
            assert paid.sum() == pytest.approx(1, abs=1e-5)


def test_a_mask_is_given_to_models_whose_tokens_see_everything() -> None:
    masked = {name: decoder_of(config)._takes_masks for name, config in CONFIGS.items()}
    assert masked["llama"]
    assert masked["qwen2"]
    assert not masked["mistral with a window"]
