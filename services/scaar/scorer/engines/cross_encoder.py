"""A cross-encoder from its checkpoint folder: the likeness f of pairs of texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors
from tokenizers import Encoding

from scaar.core.errors import DataCorrupt, ScaarError
from scaar.runtime.checkpoint import read_checkpoint
from scaar.scorer.engines.pair_reader import Array, PairReader, TokenPair, build_pair_reader
from scaar.scorer.engines.tensor_names import INPUTS, OUTPUT

OPEN_ERRORS = (
    ort_errors.Fail,
    ort_errors.InvalidArgument,
    ort_errors.InvalidGraph,
    ort_errors.InvalidProtobuf,
    ort_errors.NotImplemented,
    ort_errors.RuntimeException,
)
"""What ONNX Runtime raises for a file that is no model, or one that it cannot run."""


@dataclass(frozen=True, slots=True)
class CrossEncoder(PairReader):
    """An open model. Safe to use from several threads; it blocks while it computes."""

    revision: str
    session: Any

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of what the model reads."""
        return tuple(each.name for each in self.session.get_inputs())

    def logits(self, pairs: Sequence[TokenPair | Encoding], *, width: int = 0) -> Array:
        """The logit of each pair, a column; one padded batch, at least ``width`` tokens wide.

        Raises:
            ScaarError: ONNX Runtime cannot run it, for want of memory for example.
        """
        batch = self.padded(pairs, width=width)
        named = {name: batch[name] for name in self.inputs}
        try:
            return np.asarray(self.session.run([OUTPUT], named)[0])
        except OPEN_ERRORS as error:
            shape = batch[INPUTS[0]].shape
            raise ScaarError(f"model {self.name} fails on a batch of shape {shape}") from error

    def likeness(self, pairs: Sequence[TokenPair | Encoding], *, width: int = 0) -> Array:
        """The likeness f in [0, 1] of each pair, the sigmoid of its logit; one padded batch.

        The batch is as wide as its longest pair, or as ``width`` where that is more.

        Raises:
            DataCorrupt: the model gives no number.
            ScaarError: ONNX Runtime cannot run it, for want of memory for example.
        """
        return self.likeness_of(self.logits(pairs, width=width), count=len(pairs))


def open_cross_encoder(folder: Path, *, threads: int) -> CrossEncoder:
    """Opens a model; blocks while it reads the files.

    Raises:
        NotFound: the folder, or a file that is needed, is not there.
        DataCorrupt: a file is damaged, or not of a cross-encoder with one logit.
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
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except OPEN_ERRORS as error:
        raise DataCorrupt(f"{model}: ONNX Runtime cannot open it: {error}") from error
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
