"""Reranker that runs a cross-encoder in ONNX Runtime, embedded in the process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from scaar.encoders.cross_encoder import CrossEncoder, open_cross_encoder
from scaar.encoders.pair_reader import TokenPair
from scaar.retriever.workers import Workers

BATCH_PAIRS = 16


@asynccontextmanager
async def open_onnx_reranker(folder: Path, *, threads: int) -> AsyncIterator["OnnxReranker"]:
    """Open the cross-encoder in a folder for the duration of the block.

    Raises:
        NotFound: the folder, or a required file, is missing.
        DataCorrupt: a file is damaged, or the model is not a cross-encoder with one logit.
    """
    # One thread, so that reranking takes a bounded share of the cores.
    workers = Workers(1, "scaar-rerank")
    try:
        model = await asyncio.to_thread(open_cross_encoder, folder, threads=threads)
        yield OnnxReranker(model, workers)
    finally:
        await asyncio.to_thread(workers.close)


class OnnxReranker:
    """The relevance of a text is the sigmoid of the cross-encoder's logit, in [0, 1].

    A query that takes more than half of the model's tokens is cut off at its end, and so is a text
    that does not fit beside its query.
    """

    def __init__(self, model: CrossEncoder, workers: Workers) -> None:
        self._model, self._workers = model, workers

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def revision(self) -> str:
        return self._model.revision

    async def relevance(self, query: str, texts: list[str]) -> list[float]:
        """Return the relevance of each text for a query."""
        return await self._workers.run(self._relevance, query, texts)

    def _relevance(self, query: str, texts: list[str]) -> list[float]:
        pairs = self._pairs(query, texts)
        scores = [0.0] * len(texts)
        # Sort by length, to compute little padding.
        order = sorted(range(len(pairs)), key=lambda place: len(pairs[place]))
        for start in range(0, len(order), BATCH_PAIRS):
            places = order[start : start + BATCH_PAIRS]
            found = self._model.similarities([pairs[place] for place in places])
            for place, score in zip(places, found.tolist(), strict=True):
                scores[place] = score
        return scores

    def _pairs(self, query: str, texts: list[str]) -> list[TokenPair]:
        """Return the tokens of query and text, each at most as long as the model reads."""
        limit = self._model.max_pair_tokens
        asked = self._cut(query, limit // 2)
        pairs = self._model.read([(asked, text) for text in texts])
        return [
            pair if len(pair) <= limit else self._cut_pair(asked, text, pair)
            for pair, text in zip(pairs, texts, strict=True)
        ]

    def _cut_pair(self, query: str, text: str, pair: TokenPair) -> TokenPair:
        kept = len(self._encoded(text)) - (len(pair) - self._model.max_pair_tokens)
        # A tokenizer may read the end of a cut text as other tokens than the whole.
        while True:
            (shorter,) = self._model.read([(query, self._cut(text, max(0, kept)))])
            if len(shorter) <= self._model.max_pair_tokens or kept <= 0:
                return shorter
            kept -= len(shorter) - self._model.max_pair_tokens

    def _cut(self, text: str, tokens: int) -> str:
        """Return the text of the first tokens."""
        spans = self._encoded(text)
        if len(spans) <= tokens:
            return text
        return text[: spans[tokens - 1][1]] if tokens else ""

    def _encoded(self, text: str) -> list[tuple[int, int]]:
        """Return the place of each token of a text."""
        (found,) = self._model.tokenizer.encode_batch([text], add_special_tokens=False)
        return list(found.offsets)
