"""A cross-encoder from its checkpoint folder: the likeness f of pairs of texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors
from tokenizers import Encoding, Tokenizer

from scaar.core.errors import DataCorrupt, ScaarError
from scaar.runtime.checkpoint import Checkpoint, read_checkpoint

Array = np.ndarray[Any, Any]

OPEN_ERRORS = (
    ort_errors.Fail,
    ort_errors.InvalidArgument,
    ort_errors.InvalidGraph,
    ort_errors.InvalidProtobuf,
    ort_errors.NotImplemented,
    ort_errors.RuntimeException,
)
"""What ONNX Runtime raises for a file that is no model, or one that it cannot run."""

_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
_POSITIONS_AFTER_PADDING = {"roberta", "xlm-roberta", "camembert"}
"""These count positions from the one after the padding token's id."""


@dataclass(frozen=True, slots=True)
class TokenPair:
    """What the model reads of a pair of texts; its length is in tokens."""

    ids: tuple[int, ...]
    type_ids: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class CrossEncoder:
    """An open model. Safe to use from several threads; it blocks while it computes."""

    name: str
    revision: str
    max_pair_tokens: int
    tokenizer: Tokenizer
    padding: int
    session: Any

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[Encoding]:
        """The tokens of each pair, framed as the model was trained, never cut.

        What looks like a special token in a text is read as ordinary text.
        """
        return list(self.tokenizer.encode_batch(list(pairs)))

    def likeness(self, pairs: Sequence[TokenPair | Encoding], *, width: int = 0) -> Array:
        """The likeness f in [0, 1] of each pair, the sigmoid of its logit; one padded batch.

        The batch is as wide as its longest pair, or as ``width`` where that is more.

        Raises:
            DataCorrupt: the model gives no number.
            ScaarError: ONNX Runtime cannot run it, for want of memory for example.
        """
        shape = (len(pairs), max(width, *(len(pair.ids) for pair in pairs)))
        ids, mask, types = np.full(shape, self.padding), np.zeros(shape, int), np.zeros(shape, int)
        for row, pair in enumerate(pairs):
            used = len(pair.ids)
            ids[row, :used], mask[row, :used], types[row, :used] = pair.ids, 1, pair.type_ids
        batch = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        named = {each.name: batch[each.name].astype(np.int64) for each in self.session.get_inputs()}
        try:
            logits = self.session.run(["logits"], named)[0].astype(np.float64)
        except OPEN_ERRORS as error:
            raise ScaarError(f"model {self.name} fails on a batch of shape {shape}") from error
        if logits.shape != (len(pairs), 1) or not np.isfinite(logits).all():
            raise DataCorrupt(f"model {self.name} does not give one number for a pair")
        # The form of the sigmoid that cannot overflow.
        return np.asarray(0.5 * (1 + np.tanh(0.5 * logits[:, 0])))


def open_cross_encoder(folder: Path, *, threads: int) -> CrossEncoder:
    """Opens a model; blocks while it reads the files.

    Raises:
        NotFound: the folder, or a file that is needed, is not there.
        DataCorrupt: a file is damaged, or not of a cross-encoder with one logit.
    """
    checkpoint = read_checkpoint(folder)
    padding = checkpoint.config.whole_number("pad_token_id", default=0)
    return CrossEncoder(
        name=checkpoint.name,
        revision=checkpoint.revision,
        max_pair_tokens=_max_pair_tokens(checkpoint, padding),
        tokenizer=_tokenizer(checkpoint.tokenizer),
        padding=padding,
        session=_session(checkpoint.model, threads),
    )


def _max_pair_tokens(checkpoint: Checkpoint, padding: int) -> int:
    """The fewer of what the model has positions for and what its tokenizer is set to."""
    positions = checkpoint.config.whole_number("max_position_embeddings")
    if checkpoint.config.content.get("model_type") in _POSITIONS_AFTER_PADDING:
        positions -= padding + 1
    # A tokenizer without a limit names one of thirty digits.
    return min(
        positions, checkpoint.tokenizer_config.whole_number("model_max_length", default=positions)
    )


def _tokenizer(path: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise DataCorrupt(f"{path}: is not a tokenizer: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


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
    labels = outputs.get("logits", [0])[-1]
    if "input_ids" not in inputs or inputs - _INPUTS or (isinstance(labels, int) and labels != 1):
        raise DataCorrupt(
            f"{model}: is not a cross-encoder with one logit: "
            f"inputs {sorted(inputs)}, outputs {outputs}"
        )
    return session
