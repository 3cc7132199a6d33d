"""A decoder in ONNX Runtime, one step at a time, with its key-value cache.

The graph's names are Optimum's: ``input_ids``, ``attention_mask``, ``position_ids``,
``past_key_values.{layer}.key/value`` to ``logits``, ``present.{layer}.key/value``. A graph that
also gives ``last_attention`` [batch, heads, new, past + new] can be asked for attention.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

from scaar.core.errors import BackendUnavailable, DataCorrupt
from scaar.generator.engines.decoding.decoder import Array

OPEN_ERRORS = (
    ort_errors.Fail,
    ort_errors.InvalidArgument,
    ort_errors.InvalidGraph,
    ort_errors.InvalidProtobuf,
    ort_errors.NotImplemented,
    ort_errors.RuntimeException,
)
"""What ONNX Runtime raises for a file that is no model, or one that it cannot run."""

_PAST, _PRESENT = "past_key_values.", "present."
_SIMPLE_INPUTS = {"input_ids", "attention_mask", "position_ids"}
_KINDS = {"tensor(float)": np.float32, "tensor(float16)": np.float16}


@dataclass(frozen=True, slots=True)
class Cache:
    """Keys and values of the tokens that a decoder has read, by the name of their input.

    Nothing changes the tensors, so several generations may go on from one cache.
    """

    length: int
    tensors: dict[str, Array]

    @property
    def size_bytes(self) -> int:
        """What the tensors take in memory."""
        return sum(tensor.nbytes for tensor in self.tensors.values())

    def cut(self, length: int) -> "Cache":
        """The cache of the first tokens only; it holds on to no more memory than theirs."""
        if length == self.length:
            return self
        # The runtime wants its inputs in one piece, so copying here saves it from copying there.
        first = {name: tensor[:, :, :length].copy() for name, tensor in self.tensors.items()}
        return Cache(length, first)


class DecoderSession:
    """A decoder model. Safe to use from several threads; it blocks while it computes."""

    def __init__(self, model: Path, *, threads: int) -> None:
        """Opens the model.

        Raises:
            DataCorrupt: the file is no ONNX model, or not a decoder with a key-value cache.
        """
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._session = onnxruntime.InferenceSession(
                model, options, providers=["CPUExecutionProvider"]
            )
        except OPEN_ERRORS as error:
            raise DataCorrupt(f"{model}: ONNX Runtime cannot open it: {error}") from error
        inputs = {each.name: each for each in self._session.get_inputs()}
        outputs = {each.name: each for each in self._session.get_outputs()}
        past = {name: inputs[name] for name in inputs if name.startswith(_PAST)}
        self._presents = {name: name.replace(_PAST, _PRESENT, 1) for name in past}
        foreign = inputs.keys() - past.keys() - _SIMPLE_INPUTS
        missing = {"logits", *self._presents.values()} - outputs.keys()
        if foreign or missing or not past or "input_ids" not in inputs:
            raise DataCorrupt(
                f"{model}: is not a decoder with a key-value cache: "
                f"unknown inputs {sorted(foreign)}, missing outputs {sorted(missing)}, "
                f"{len(past)} inputs for the cache"
            )
        self._simple = _SIMPLE_INPUTS & inputs.keys()
        self._empty = {name: _empty(model, each) for name, each in past.items()}
        self.gives_attention = "last_attention" in outputs

    def begin(self) -> Cache:
        """The cache of a decoder that has read nothing."""
        return Cache(0, self._empty)

    def step(self, ids: Sequence[int], cache: Cache) -> tuple[Array, Cache]:
        """The logits [vocabulary] after reading tokens beyond the cache's, and the cache with them.

        The cache given stays as it was.

        Raises:
            BackendUnavailable: ONNX Runtime cannot run it, for want of memory for example.
        """
        names = ["logits", *self._presents.values()]
        logits, *presents = self._run(names, ids, cache)
        tensors = dict(zip(self._presents, presents, strict=True))
        return logits[0, -1], Cache(cache.length + len(ids), tensors)

    def step_attending(self, ids: Sequence[int], cache: Cache) -> tuple[Array, Array, Cache]:
        """As :meth:`step`, with last-layer attention [new tokens, all tokens] in between."""
        names = ["logits", "last_attention", *self._presents.values()]
        logits, weights, *presents = self._run(names, ids, cache)
        tensors = dict(zip(self._presents, presents, strict=True))
        paid = np.asarray(weights[0].mean(axis=0, dtype=np.float64))
        return logits[0, -1], paid, Cache(cache.length + len(ids), tensors)

    def _run(self, names: Sequence[str], ids: Sequence[int], cache: Cache) -> list[Any]:
        try:
            return list(self._session.run(names, self._feed(ids, cache)))
        except OPEN_ERRORS as error:
            told = f"ONNX Runtime failed at a step of {len(ids)} tokens after {cache.length}"
            raise BackendUnavailable(f"{told}: {type(error).__name__}") from error

    def _feed(self, ids: Sequence[int], cache: Cache) -> dict[str, Array]:
        total = cache.length + len(ids)
        simple = {
            "input_ids": np.array([ids], np.int64),
            "attention_mask": np.ones((1, total), np.int64),
            "position_ids": np.arange(cache.length, total, dtype=np.int64)[None],
        }
        return {name: simple[name] for name in self._simple} | cache.tensors


def _empty(model: Path, past: Any) -> Array:
    """No tokens' keys or values, in the shape [1, heads, 0, head size] that the graph names."""
    _, heads, _, size = past.shape if len(past.shape) == 4 else (None,) * 4
    if not isinstance(heads, int) or not isinstance(size, int) or past.type not in _KINDS:
        raise DataCorrupt(f"{model}: the input {past.name} is {past.type} {past.shape}")
    return np.zeros((1, heads, 0, size), _KINDS[past.type])
