"""Sentence encoder from a folder, which maps texts to vectors whose cosine measures similarity.

A folder contains ``config.json``, ``tokenizer.json`` and ``model.onnx`` (or ``onnx/model.onnx``),
and the files of sentence-transformers: ``modules.json``, ``1_Pooling/config.json`` and
``sentence_bert_config.json`` with the maximum length of a text.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from scaar.core.errors import DataCorrupt, ScaarError
from scaar.encoders.checkpoint import (
    REVISION_DIGITS,
    Checkpoint,
    read_checkpoint,
    read_json_file,
)
from scaar.encoders.pooling import Array, VectorRecipe, read_recipe
from scaar.encoders.session import OPEN_ERRORS, open_session
from scaar.encoders.tensor_names import INPUTS, OUTPUTS
from scaar.encoders.tokenizer import open_tokenizer, padding_id, token_limit

BATCH_TEXTS = 32

Tokens = tuple[int, ...]
"""Ids of a text's tokens, with the model's special tokens."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class SentenceEncoder:
    """An open encoder. Thread-safe. Its methods block."""

    name: str
    width: int
    """Number of dimensions of a vector."""

    max_tokens: int
    """Maximum length of a text, in tokens. :meth:`encode` truncates longer texts."""

    revision: str
    """Equal revisions give equal vectors."""

    recipe: VectorRecipe
    _whole: Tokenizer
    _truncating: Tokenizer
    _padding: int
    _session: Any
    _output: str

    @property
    def normalised(self) -> bool:
        """Whether every vector has length 1, so that the inner product is the cosine."""
        return self.recipe.normalised

    @classmethod
    def open(cls, folder: Path, *, threads: int) -> "SentenceEncoder":
        """Open the encoder in a folder. Blocks while the files are read.

        Raises:
            NotFound: the folder, or a required file, is missing.
            DataCorrupt: a file is damaged, or the encoder is not supported.
        """
        checkpoint = read_checkpoint(folder)
        config = read_json_file(folder / "sentence_bert_config.json")
        limit = token_limit(checkpoint)
        limit = min(limit, config.whole_number("max_seq_length", default=limit))
        recipe = read_recipe(folder)
        truncating = open_tokenizer(checkpoint.tokenizer)
        truncating.enable_truncation(max_length=limit)
        session = open_session(checkpoint.model, threads=threads)
        return cls(
            name=checkpoint.name,
            width=checkpoint.config.whole_number("hidden_size", "dim", "d_model"),
            max_tokens=limit,
            revision=_revision(checkpoint, recipe, limit),
            recipe=recipe,
            _whole=open_tokenizer(checkpoint.tokenizer),
            _truncating=truncating,
            _padding=padding_id(checkpoint),
            _session=session,
            _output=_output_of(session, checkpoint.model),
        )

    def encode(self, texts: Sequence[str]) -> Array:
        """Return the vectors of texts, float32 [texts, width]. Long texts are truncated.

        Raises:
            DataCorrupt: the output of the model is invalid.
            ScaarError: ONNX Runtime cannot run the batch, for example for lack of memory.
        """
        read = [tuple(each.ids) for each in self._truncating.encode_batch(list(texts))]
        return self.encode_tokens(read)

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Tokenize each text without truncation."""
        return [tuple(each.ids) for each in self._whole.encode_batch(list(texts))]

    def encode_tokens(self, texts: Sequence[Tokens]) -> Array:
        """Return the vectors of tokenized texts of at most ``max_tokens``; see :meth:`encode`."""
        vectors = np.zeros((len(texts), self.width), np.float32)
        # Sort by length, to compute little padding.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for start in range(0, len(order), BATCH_TEXTS):
            places = order[start : start + BATCH_TEXTS]
            vectors[places] = self._batch([texts[place] for place in places])
        return vectors

    def padded(self, texts: Sequence[Tokens]) -> Mapping[str, Array]:
        """Return the batch by input name, int64 [texts, tokens], padded to the longest text."""
        shape = (len(texts), max(1, *(len(text) for text in texts)))
        ids, mask = np.full(shape, self._padding, np.int64), np.zeros(shape, np.int64)
        for row, text in enumerate(texts):
            ids[row, : len(text)], mask[row, : len(text)] = text, 1
        return dict(zip(INPUTS, (ids, mask, np.zeros(shape, np.int64)), strict=True))

    def _batch(self, texts: Sequence[Tokens]) -> Array:
        given = self.padded(texts)
        mask = given["attention_mask"]
        named = {each.name: given[each.name] for each in self._session.get_inputs()}
        try:
            found = np.asarray(self._session.run([self._output], named)[0])
        except OPEN_ERRORS as error:
            raise ScaarError(f"model {self.name} fails on a batch of shape {mask.shape}") from error
        if found.shape != (*mask.shape, self.width) or not np.isfinite(found).all():
            text = f"model {self.name} does not return {self.width} finite numbers per token"
            raise DataCorrupt(text)
        return self.recipe.applied(found, mask)


def _output_of(session: Any, model: Path) -> str:
    inputs = {each.name for each in session.get_inputs()}
    outputs = {each.name: each.shape for each in session.get_outputs()}
    fitting = [name for name in OUTPUTS if len(outputs.get(name, ())) == 3]
    if not fitting or "input_ids" not in inputs or inputs - set(INPUTS):
        raise DataCorrupt(
            f"{model} is not a sentence encoder with the output {' or '.join(OUTPUTS)}: "
            f"inputs {sorted(inputs)}, outputs {outputs}"
        )
    return fitting[0]


def _revision(checkpoint: Checkpoint, recipe: VectorRecipe, max_tokens: int) -> str:
    digest = hashlib.sha256(checkpoint.tokenizer.read_bytes())
    parts = f"{checkpoint.revision} {recipe.pooling} {recipe.normalised} {max_tokens}"
    digest.update(parts.encode())
    return digest.hexdigest()[:REVISION_DIGITS]
