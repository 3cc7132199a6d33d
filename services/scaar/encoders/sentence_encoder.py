"""A sentence encoder from its folder: texts to vectors whose cosine tells how alike they are.

A folder holds ``config.json``, ``tokenizer.json`` and ``model.onnx`` (or ``onnx/model.onnx``), and
what sentence-transformers writes beside them: ``modules.json``, ``1_Pooling/config.json`` and
``sentence_bert_config.json`` with the longest text.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from scaar.core.errors import DataCorrupt, ScaarError
from scaar.encoders.pooling import Array, VectorRecipe, read_recipe
from scaar.encoders.session import OPEN_ERRORS, open_session
from scaar.encoders.tensor_names import INPUTS, OUTPUTS
from scaar.encoders.tokenizing import most_tokens, open_tokenizer, padding_id
from scaar.runtime.checkpoint import (
    REVISION_DIGITS,
    Checkpoint,
    read_checkpoint,
    read_json_file,
)

BATCH_TEXTS = 32

Tokens = tuple[int, ...]
"""The ids of a text's tokens, framed as the model was trained."""


@dataclass(frozen=True, slots=True)
class SentenceEncoder:
    """An open encoder. Safe to use from several threads; it blocks while it computes."""

    name: str
    width: int
    """Numbers of a vector."""

    max_tokens: int
    """Of a text; what is longer is cut by :meth:`encode`."""

    revision: str
    """Equal revisions give equal vectors."""

    recipe: VectorRecipe
    _whole: Tokenizer
    _cutting: Tokenizer
    _padding: int
    _session: Any
    _output: str

    @property
    def normalised(self) -> bool:
        """Whether every vector's length is 1, so that a product of two is their cosine."""
        return self.recipe.normalised

    @classmethod
    def open(cls, folder: Path, *, threads: int) -> "SentenceEncoder":
        """The encoder in a folder; blocks while it reads the files.

        Raises:
            NotFound: the folder, or a file that is needed, is not there.
            DataCorrupt: a file is damaged, or not of an encoder that is known here.
        """
        checkpoint = read_checkpoint(folder)
        told = read_json_file(folder / "sentence_bert_config.json")
        most = most_tokens(checkpoint)
        most = min(most, told.whole_number("max_seq_length", default=most))
        recipe = read_recipe(folder)
        cutting = open_tokenizer(checkpoint.tokenizer)
        cutting.enable_truncation(max_length=most)
        session = open_session(checkpoint.model, threads=threads)
        return cls(
            name=checkpoint.name,
            width=checkpoint.config.whole_number("hidden_size", "dim", "d_model"),
            max_tokens=most,
            revision=_revision(checkpoint, recipe, most),
            recipe=recipe,
            _whole=open_tokenizer(checkpoint.tokenizer),
            _cutting=cutting,
            _padding=padding_id(checkpoint),
            _session=session,
            _output=_output_of(session, checkpoint.model),
        )

    def encode(self, texts: Sequence[str]) -> Array:
        """The vector of each text, float32 [texts, width]; a text that is too long is cut.

        Raises:
            DataCorrupt: the model gives something else.
            ScaarError: ONNX Runtime cannot run it, for want of memory for example.
        """
        read = [tuple(each.ids) for each in self._cutting.encode_batch(list(texts))]
        return self.encode_tokens(read)

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """What the model reads of each text, never cut."""
        return [tuple(each.ids) for each in self._whole.encode_batch(list(texts))]

    def encode_tokens(self, texts: Sequence[Tokens]) -> Array:
        """The vectors of texts already read, of at most ``max_tokens`` each; as :meth:`encode`."""
        vectors = np.zeros((len(texts), self.width), np.float32)
        # Like lengths together, so that little is computed of what only fills up.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for start in range(0, len(order), BATCH_TEXTS):
            places = order[start : start + BATCH_TEXTS]
            vectors[places] = self._batch([texts[place] for place in places])
        return vectors

    def padded(self, texts: Sequence[Tokens]) -> Mapping[str, Array]:
        """The batch by the names of its inputs, as wide as its longest text."""
        shape = (len(texts), max(len(text) for text in texts))
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
            raise DataCorrupt(f"model {self.name} does not give {self.width} numbers for a token")
        return self.recipe.applied(found, mask)


def _output_of(session: Any, model: Path) -> str:
    inputs = {each.name for each in session.get_inputs()}
    outputs = {each.name: each.shape for each in session.get_outputs()}
    fitting = [name for name in OUTPUTS if len(outputs.get(name, ())) == 3]
    if not fitting or "input_ids" not in inputs or inputs - set(INPUTS):
        raise DataCorrupt(
            f"{model}: is not a sentence encoder with vectors of tokens, {' or '.join(OUTPUTS)}: "
            f"inputs {sorted(inputs)}, outputs {outputs}"
        )
    return fitting[0]


def _revision(checkpoint: Checkpoint, recipe: VectorRecipe, most: int) -> str:
    digest = hashlib.sha256(checkpoint.tokenizer.read_bytes())
    told = f"{checkpoint.revision} {recipe.pooling} {recipe.normalised} {most}"
    digest.update(told.encode())
    return digest.hexdigest()[:REVISION_DIGITS]
