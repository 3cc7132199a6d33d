"""Throughput of concurrent generations by a random decoder of 86 million parameters.

The engine ``transformers``, and a plain ``generate`` on the same checkpoint, are measured where
PyTorch is installed.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from scaar.core.ports import Generator
from scaar.core.types import GenerateRequest, Token
from scaar.generator.factory import open_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab.export import export_language_model
from scaar.lab.shapes import DecoderShape
from scaar.lab.training.language_model import initial_params
from scaar.lab.vocabulary import build_tokenizer

STREAMS = 8
THREADS = 2
AIM = 3.0
"""Least throughput of the streams over that of one stream, with a batch."""
COLUMNS = ("engine", "batch", "1 stream, tokens/s", f"{STREAMS} streams, tokens/s", "ratio")
_TOKENS = 48
_ROUNDS = 3


def write_checkpoint(folder: Path) -> Path:
    """Write a random decoder, 12 layers of size 768 with the lab's vocabulary, and return it."""
    shape = DecoderShape(
        build_tokenizer().get_vocab_size(),
        hidden_size=768,
        num_hidden_layers=12,
        num_attention_heads=12,
        intermediate_size=2048,
        max_position_embeddings=2048,
    )
    export_language_model(initial_params(shape, seed=0), shape, folder / "random-decoder", {})
    return folder / "random-decoder"


async def rows(folder: Path) -> AsyncIterator[tuple[str, ...]]:
    """Yield the row of each engine and batch, then those of a plain ``generate``."""
    model = str(write_checkpoint(folder))
    engines: list[dict[str, Any]] = [{"engine": "onnx"}]
    if find_spec("torch"):
        engines.append({"engine": "transformers", "attention": False})
    for engine in engines:
        for batch in (1, STREAMS):
            settings = GeneratorSettings(
                model=model, threads=THREADS, workers=THREADS, max_batch=batch, **engine
            )
            async with open_generator(settings) as generator:
                await _write(generator, STREAMS, tokens=2)
                one = max([await _speed(generator, 1) for _ in range(_ROUNDS)])
                many = max([await _speed(generator, STREAMS) for _ in range(_ROUNDS)])
            yield _row(settings.engine, batch, one, many)
    if find_spec("torch"):
        one, many = _plain_speeds(model)
        yield _row("plain generate", STREAMS, one, many)


def _row(engine: str, batch: int, one: float, many: float) -> tuple[str, ...]:
    return engine, str(batch), f"{one:.1f}", f"{many:.1f}", f"{many / one:.2f}"


async def _speed(generator: Generator, streams: int) -> float:
    """Return the tokens per second of concurrent streams together."""
    started = time.perf_counter()
    tokens = await _write(generator, streams, tokens=_TOKENS)
    return tokens / (time.perf_counter() - started)


async def _write(generator: Generator, streams: int, *, tokens: int) -> int:
    counts = await asyncio.gather(
        *(_count(generator, prompt, tokens) for prompt in _prompts(streams))
    )
    return sum(counts)


async def _count(generator: Generator, prompt: str, tokens: int) -> int:
    request = GenerateRequest(prompt, max_tokens=tokens)
    async with aclosing(generator.generate(request)) as events:
        return sum([1 async for event in events if isinstance(event, Token)])


def _prompts(count: int) -> Sequence[str]:
    """Return prompts of about 15 to 45 tokens."""
    return [
        f"Question: Who directed the film number {number}?\nAnswer:" * (1 + number % 3)
        for number in range(count)
    ]


def _plain_speeds(model: str) -> tuple[float, float]:
    """Return the tokens per second of ``generate`` with one text and with a batch."""
    import torch
    from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

    torch.set_num_threads(THREADS)
    network = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).eval()
    tokenizer = PreTrainedTokenizerFast.from_pretrained(model, padding_side="left")
    tokenizer.pad_token = tokenizer.eos_token

    def speeds(streams: int) -> Iterator[float]:
        read = tokenizer(list(_prompts(streams)), return_tensors="pt", padding=True)
        inputs = {name: read[name] for name in ("input_ids", "attention_mask")}
        for tokens in (2, *(_TOKENS for _ in range(_ROUNDS))):
            started = time.perf_counter()
            with torch.inference_mode():
                network.generate(
                    **inputs, do_sample=False, max_new_tokens=tokens, min_new_tokens=tokens
                )
            yield streams * tokens / (time.perf_counter() - started)

    return max(speeds(1)), max(speeds(STREAMS))
