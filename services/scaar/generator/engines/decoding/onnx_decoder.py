"""Decoder in ONNX Runtime with a key-value cache.

The graph's names are Optimum's: ``input_ids``, ``attention_mask``, ``position_ids``,
``past_key_values.{layer}.key/value`` to ``logits``, ``present.{layer}.key/value``. A graph that
also has the output ``last_attention`` [batch, heads, new, past + new] gives attention. Hidden
states are tensors [batch, new, size] of the graph, which need not be outputs.
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
from scaar.generator.engines.decoding.onnx_outputs import with_outputs
from scaar.generator.engines.decoding.row_batch import Inputs, Outputs, RowBatch

OPEN_ERRORS = (
    ort_errors.Fail,
    ort_errors.InvalidArgument,
    ort_errors.InvalidGraph,
    ort_errors.InvalidProtobuf,
    ort_errors.NotImplemented,
    ort_errors.RuntimeException,
)
"""Exceptions of ONNX Runtime for files that are not models, or that it cannot run."""

_PAST, _PRESENT = "past_key_values.", "present."
_SIMPLE_INPUTS = {"input_ids", "attention_mask", "position_ids"}
_KINDS = {"tensor(float)": np.float32, "tensor(float16)": np.float16}


@dataclass(frozen=True, slots=True)
class Cache:
    """Keys and values of the tokens that a decoder has read, by the name of their input.

    Immutable, so several generations can continue from the same cache.
    """

    length: int
    tensors: dict[str, Array]

    @property
    def size_bytes(self) -> int:
        """Size of the tensors, in bytes."""
        return sum(tensor.nbytes for tensor in self.tensors.values())

    def cut(self, length: int) -> "Cache":
        """Return the cache of the first ``length`` tokens, in memory of its own."""
        if length == self.length:
            return self
        # The runtime requires contiguous inputs, so it would copy the slices otherwise.
        first = {name: tensor[:, :, :length].copy() for name, tensor in self.tensors.items()}
        return Cache(length, first)


class DecoderSession:
    """A decoder model. Thread-safe; its methods block."""

    def __init__(self, model: Path, *, threads: int, hidden_states: Sequence[str] = ()) -> None:
        """Open the model. ``hidden_states`` are the names of its tensors of hidden states.

        The first is that of the embeddings, then one follows for each layer.

        Raises:
            DataCorrupt: the file is not an ONNX decoder with a key-value cache, or it lacks a
                tensor of hidden states.
        """
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._session = onnxruntime.InferenceSession(
                with_outputs(model, hidden_states, options) if hidden_states else model,
                options,
                providers=["CPUExecutionProvider"],
            )
        except OPEN_ERRORS as error:
            states = f" with the hidden states {', '.join(hidden_states)}" if hidden_states else ""
            raise DataCorrupt(f"{model}: ONNX Runtime cannot open it{states}: {error}") from error
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
        # Rows of different lengths need a mask for their padding, and their own positions.
        self.gives_batches = self._simple == _SIMPLE_INPUTS
        self._states = tuple(hidden_states)
        self.hidden_layers = len(hidden_states) - 1 if hidden_states else None

    def begin(self) -> Cache:
        """Return the empty cache."""
        return Cache(0, self._empty)

    def step(self, ids: Sequence[int], cache: Cache) -> tuple[Array, Cache]:
        """Read more tokens and return the logits [vocabulary] and the new cache.

        The given cache is unchanged.

        Raises:
            BackendUnavailable: ONNX Runtime failed, for example for lack of memory.
        """
        names = ["logits", *self._presents.values()]
        logits, *presents = self._run(names, ids, cache)
        tensors = dict(zip(self._presents, presents, strict=True))
        return logits[0, -1], Cache(cache.length + len(ids), tensors)

    def step_attending(self, ids: Sequence[int], cache: Cache) -> tuple[Array, Array, Cache]:
        """Like :meth:`step`, with last-layer attention [new tokens, all tokens] as second item."""
        logits, weights, after = self._attend(ids, cache)
        paid = np.asarray(weights.mean(axis=0, dtype=np.float64))
        return logits, paid, after

    def step_attended(self, ids: Sequence[int], cache: Cache) -> tuple[Array, Cache]:
        """Read more tokens; see :meth:`Decoder.step_attended`."""
        _, weights, after = self._attend(ids, cache)
        return np.asarray(weights.max(axis=1)), after

    def _attend(self, ids: Sequence[int], cache: Cache) -> tuple[Array, Array, Cache]:
        """Read more tokens; the attention is by head [heads, new tokens, all tokens]."""
        names = ["logits", "last_attention", *self._presents.values()]
        logits, weights, *presents = self._run(names, ids, cache)
        tensors = dict(zip(self._presents, presents, strict=True))
        return logits[0, -1], weights[0], Cache(cache.length + len(ids), tensors)

    def step_with_state(
        self, ids: Sequence[int], cache: Cache, layer: int
    ) -> tuple[Array, Array, Cache]:
        """Like :meth:`step`, with the last token's hidden state [size] as second item."""
        names = ["logits", self._states[layer], *self._presents.values()]
        logits, states, *presents = self._run(names, ids, cache)
        tensors = dict(zip(self._presents, presents, strict=True))
        return logits[0, -1], states[0, -1], Cache(cache.length + len(ids), tensors)

    def step_whole(self, ids: Sequence[int], cache: Cache) -> tuple[Array, Cache]:
        """Like :meth:`step`, with the logits [new tokens, vocabulary] after every token."""
        names = ["logits", *self._presents.values()]
        logits, *presents = self._run(names, ids, cache)
        tensors = dict(zip(self._presents, presents, strict=True))
        return logits[0], Cache(cache.length + len(ids), tensors)

    def open_batch(self) -> RowBatch[Cache]:
        """Return an empty batch of texts. Its steps raise errors as :meth:`step`."""
        return RowBatch(_Tensors(self._session, tuple(self._presents)))

    def _run(self, names: Sequence[str], ids: Sequence[int], cache: Cache) -> list[Any]:
        return _run(self._session, names, self._feed(ids, cache))

    def _feed(self, ids: Sequence[int], cache: Cache) -> dict[str, Array]:
        total = cache.length + len(ids)
        simple = {
            "input_ids": np.array([ids], np.int64),
            "attention_mask": np.ones((1, total), np.int64),
            "position_ids": np.arange(cache.length, total, dtype=np.int64)[None],
        }
        return {name: simple[name] for name in self._simple} | cache.tensors


class _Tensors:
    """Tensors of a batch: those of :class:`Cache`, in the order of ``names``."""

    def __init__(self, session: onnxruntime.InferenceSession, names: Sequence[str]) -> None:
        self._session = session
        self._names = names
        self._presents = [name.replace(_PAST, _PRESENT, 1) for name in names]

    def unpack(self, cache: Cache) -> tuple[Array, ...]:
        return tuple(cache.tensors[name] for name in self._names)

    def pack(self, length: int, tensors: tuple[Array, ...]) -> Cache:
        copies = (tensor.copy() for tensor in tensors)
        return Cache(length, dict(zip(self._names, copies, strict=True)))

    def zeros(self, shape: Sequence[int], like: Array) -> Array:
        return np.zeros(shape, like.dtype)

    def join(self, tensors: Sequence[Array], axis: int) -> Array:
        return np.concatenate(tensors, axis)

    def run(self, inputs: Inputs, *, attention: bool) -> Outputs:
        feed = {
            "input_ids": inputs.ids,
            "attention_mask": inputs.mask,
            "position_ids": inputs.positions,
            **dict(zip(self._names, map(np.ascontiguousarray, inputs.tensors), strict=True)),
        }
        names = ["logits", *(["last_attention"] if attention else []), *self._presents]
        logits, *more = _run(self._session, names, feed)
        weights = more.pop(0)[:, :, -1].mean(axis=1, dtype=np.float64) if attention else None
        return Outputs(logits[:, -1], tuple(more), weights)


def _run(
    session: onnxruntime.InferenceSession, names: Sequence[str], feed: dict[str, Array]
) -> list[Any]:
    try:
        return list(session.run(names, feed))
    except OPEN_ERRORS as error:
        text = f"ONNX Runtime failed at a step of {feed['input_ids'].size} tokens"
        raise BackendUnavailable(f"{text}: {type(error).__name__}") from error


def _empty(model: Path, past: Any) -> Array:
    """Return an empty tensor [1, heads, 0, head size] for an input of the cache."""
    _, heads, _, size = past.shape if len(past.shape) == 4 else (None,) * 4
    if not isinstance(heads, int) or not isinstance(size, int) or past.type not in _KINDS:
        raise DataCorrupt(
            f"{model}: the input {past.name} is {past.type} {past.shape}, not a cache"
        )
    return np.zeros((1, heads, 0, size), _KINDS[past.type])
