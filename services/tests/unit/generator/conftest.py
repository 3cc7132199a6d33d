"""A scripted decoder and an observed decoder, with the real engine over both."""

import asyncio
import json
from dataclasses import replace

import numpy as np
import pytest

from scaar.generator.engines.onnx import open_onnx_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab.export.onnx_graph import FLOAT, INT64, OnnxGraph
from scaar.lab.vocabulary import EOS_ID, build_tokenizer

PROMPT = "Question:"
PROMPT_TOKENS = 3
POSITIONS = 64


@pytest.fixture
def write(tmp_path):
    """Opens a generator that continues PROMPT with these tokens, then ends its text."""

    def open_writer(ids, **settings):
        folder = tmp_path / "scripted"
        folder.mkdir()
        tokenizer = build_tokenizer()
        assert len(tokenizer.encode(PROMPT).ids) == PROMPT_TOKENS
        (folder / "model.onnx").write_bytes(_scripted(list(ids), tokenizer.get_vocab_size()))
        (folder / "tokenizer.json").write_text(tokenizer.to_str())
        config = {"max_position_embeddings": POSITIONS, "eos_token_id": EOS_ID}
        (folder / "config.json").write_text(json.dumps(config))
        return open_onnx_generator(GeneratorSettings(model=folder, **settings))

    return open_writer


class WatchedDecoder:
    """A decoder that says what it is asked to read.

    ``reads`` are the tokens of every step, ``pasts`` how many were read before them.
    """

    def __init__(self, decoder):
        self._decoder = decoder
        self.reads = []
        self.pasts = []
        self._awaited = []

    @property
    def steps(self):
        return len(self.reads)

    @property
    def tokens(self):
        return sum(map(len, self.reads))

    async def reach(self, steps):
        """Wait until this number of steps has started."""
        reached = asyncio.Event()
        self._awaited.append((steps, asyncio.get_running_loop(), reached))
        if self.steps < steps:
            await reached.wait()

    @property
    def gives_attention(self):
        return self._decoder.gives_attention

    @property
    def hidden_layers(self):
        return self._decoder.hidden_layers

    def begin(self):
        return self._decoder.begin()

    def step(self, ids, cache):
        self._note(ids, cache)
        return self._decoder.step(ids, cache)

    def step_attending(self, ids, cache):
        self._note(ids, cache)
        return self._decoder.step_attending(ids, cache)

    def step_attended(self, ids, cache):
        self._note(ids, cache)
        return self._decoder.step_attended(ids, cache)

    def _note(self, ids, cache):
        self.reads.append(list(ids))
        self.pasts.append(cache.length)
        for steps, loop, reached in self._awaited:
            if self.steps == steps:
                loop.call_soon_threadsafe(reached.set)


@pytest.fixture
def watch():
    """Puts a :class:`WatchedDecoder` in place of a generator's."""

    def put(generator):
        watched = WatchedDecoder(generator._model.decoder)
        generator._model = replace(generator._model, decoder=watched)
        return watched

    return put


def _scripted(ids, vocabulary):
    script = np.full(POSITIONS, EOS_ID)
    script[PROMPT_TOKENS - 1 :][: len(ids)] = ids
    logits = np.zeros((POSITIONS, vocabulary))
    logits[np.arange(POSITIONS), script] = 9
    graph = OnnxGraph("scripted")
    graph.input("input_ids", INT64, ["b", "n"])
    positions = graph.input("position_ids", INT64, ["b", "n"])
    past = [
        graph.input(f"past_key_values.0.{part}", FLOAT, ["b", 1, "p", 1])
        for part in ("key", "value")
    ]
    graph.output("logits", FLOAT, ["b", "n", vocabulary])
    graph.do("Gather", graph.weight("script", logits), positions, name="logits")
    new = graph.do("Unsqueeze", graph.do("Cast", positions, to=FLOAT), graph.integers(1, 3))
    for part, before in zip(("key", "value"), past, strict=True):
        graph.output(f"present.0.{part}", FLOAT, ["b", 1, "t", 1])
        graph.do("Concat", before, new, axis=2, name=f"present.0.{part}")
    return graph.to_bytes()
