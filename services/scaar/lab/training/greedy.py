"""Batched greedy decoding with a language model's ONNX graph."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from scaar.lab.vocabulary import EOS_ID, PAD_ID

ROWS, ANSWER_TOKENS = 32, 120


@dataclass(frozen=True, slots=True)
class Written:
    """An answer of the model: text, token ids and logprobs (natural logarithm)."""

    text: str
    ids: tuple[int, ...]
    logprobs: tuple[float, ...]


class GreedyWriter:
    """Continues prompts until the end token, for at most ANSWER_TOKENS tokens."""

    def __init__(self, graph: bytes, tokenizer: Tokenizer) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(graph, options)
        self._tokenizer = tokenizer

    def write(self, prompts: Sequence[str]) -> list[Written]:
        """Return the continuation of every prompt."""
        written: list[Written] = []
        for start in range(0, len(prompts), ROWS):
            written += self._write_rows(prompts[start : start + ROWS])
        return written

    def _write_rows(self, prompts: Sequence[str]) -> list[Written]:
        encoded = [self._tokenizer.encode(prompt).ids for prompt in prompts]
        ids: list[list[int]] = [[] for _ in prompts]
        logprobs: list[list[float]] = [[] for _ in prompts]
        done = np.zeros(len(prompts), bool)
        for chosen, scores in self._steps(encoded):
            for live in np.flatnonzero(~done):
                ids[live].append(int(chosen[live]))
                logprobs[live].append(float(scores[live]))
            done |= chosen == EOS_ID
            if done.all():
                break
        return [
            Written(self._tokenizer.decode(each), tuple(each), tuple(values))
            for each, values in zip(ids, logprobs, strict=True)
        ]

    def _steps(self, encoded: Sequence[Sequence[int]]) -> Iterator[tuple[Any, Any]]:
        """Yield the most probable next token of each row and its logprob, step by step."""
        rows, length = len(encoded), max(map(len, encoded))
        new = np.full((rows, length), PAD_ID, np.int64)
        mask = np.zeros((rows, length), np.int64)
        # Padding on the left aligns the last token of every row.
        for row, each in enumerate(encoded):
            new[row, length - len(each) :], mask[row, length - len(each) :] = each, 1
        positions = np.maximum(mask.cumsum(1) - 1, 0)
        names = [each.name for each in self._session.get_inputs()[3:]]
        _, heads, _, size = self._session.get_inputs()[3].shape
        cache = [np.zeros((rows, heads, 0, size), np.float32) for _ in names]
        outputs = [each.name for each in self._session.get_outputs()[: 1 + len(names)]]
        for _ in range(ANSWER_TOKENS):
            feed = {"input_ids": new, "attention_mask": mask, "position_ids": positions}
            logits, *cache = self._session.run(outputs, feed | dict(zip(names, cache, strict=True)))
            scores = logits[:, -1]
            chosen = scores.argmax(-1)
            highest = scores[np.arange(rows), chosen]
            yield chosen, -np.log(np.exp(scores - highest[:, None]).sum(-1))
            new, positions = chosen[:, None].astype(np.int64), positions[:, -1:] + 1
            mask = np.concatenate([mask, np.ones((rows, 1), np.int64)], 1)
