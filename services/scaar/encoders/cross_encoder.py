"""Cross-encoder from a checkpoint folder, which computes the similarity f of pairs of texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Encoding

from scaar.core.errors import DataCorrupt, ScaarError
from scaar.encoders.checkpoint import read_checkpoint
from scaar.encoders.pair_reader import Array, PairReader, TokenPair, build_pair_reader
from scaar.encoders.session import OPEN_ERRORS, open_session
from scaar.encoders.tensor_names import INPUTS, OUTPUT


@dataclass(frozen=True, slots=True)
class CrossEncoder(PairReader):
    """An open model. Thread-safe. Its methods block."""

    revision: str
    session: Any

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the model's inputs."""
        return tuple(each.name for each in self.session.get_inputs())

    def logits(self, pairs: Sequence[TokenPair | Encoding], *, width: int = 0) -> Array:
        """Return the logits of one padded batch, [pairs, 1], at least ``width`` tokens wide.

        Raises:
            ScaarError: ONNX Runtime cannot run the batch, for example for lack of memory.
        """
        batch = self.padded(pairs, width=width)
        named = {name: batch[name] for name in self.inputs}
        try:
            return np.asarray(self.session.run([OUTPUT], named)[0])
        except OPEN_ERRORS as error:
            shape = batch[INPUTS[0]].shape
            raise ScaarError(f"model {self.name} fails on a batch of shape {shape}") from error

    def similarities(self, pairs: Sequence[TokenPair | Encoding], *, width: int = 0) -> Array:
        """Return the similarity f in [0, 1] of each pair of one padded batch, [pairs].

        f is the sigmoid of the logit. The batch is padded to its longest pair, or to ``width`` if
        that is more.

        Raises:
            DataCorrupt: the model returns a non-finite number.
            ScaarError: ONNX Runtime cannot run the batch, for example for lack of memory.
        """
        return self.similarities_of(self.logits(pairs, width=width), count=len(pairs))


def open_cross_encoder(folder: Path, *, threads: int) -> CrossEncoder:
    """Open a model. Blocks while the files are read.

    Raises:
        NotFound: the folder, or a required file, is missing.
        DataCorrupt: a file is damaged, or the model is not a cross-encoder with one logit.
    """
    checkpoint = read_checkpoint(folder)
    reader = build_pair_reader(checkpoint)
    return CrossEncoder(
        name=reader.name,
        max_pair_tokens=reader.max_pair_tokens,
        tokenizer=reader.tokenizer,
        padding=reader.padding,
        revision=checkpoint.revision,
        session=_session(checkpoint.model, threads),
    )


def _session(model: Path, threads: int) -> Any:
    session = open_session(model, threads=threads)
    inputs = {each.name for each in session.get_inputs()}
    outputs = {each.name: each.shape for each in session.get_outputs()}
    labels = outputs.get(OUTPUT, [0])[-1]
    unknown = inputs - set(INPUTS)
    if "input_ids" not in inputs or unknown or (isinstance(labels, int) and labels != 1):
        raise DataCorrupt(
            f"{model}: is not a cross-encoder with one logit: "
            f"inputs {sorted(inputs)}, outputs {outputs}"
        )
    return session
