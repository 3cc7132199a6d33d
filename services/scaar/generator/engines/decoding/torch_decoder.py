"""Decoder in PyTorch with a key-value cache."""

import inspect
import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import DynamicCache, PreTrainedModel

from scaar.core.errors import BackendUnavailable, DataCorrupt, Overloaded, ScaarError
from scaar.generator.engines.decoding.decoder import Array
from scaar.generator.engines.decoding.row_batch import Inputs, Outputs, RowBatch

_LOGGER = logging.getLogger(__name__)

_Layers = tuple[tuple[torch.Tensor, torch.Tensor], ...]


@dataclass(frozen=True, slots=True)
class TorchCache:
    """Keys and values [1, heads, tokens, head size] of each layer, of the tokens that were read.

    Immutable, so several generations can continue from the same cache.
    """

    length: int
    layers: _Layers

    @property
    def size_bytes(self) -> int:
        """Size of the tensors, in bytes."""
        return sum(tensor.nbytes for layer in self.layers for tensor in layer)

    def cut(self, length: int) -> "TorchCache":
        """Return the cache of the first ``length`` tokens, in memory of its own."""
        if length == self.length:
            return self
        first = tuple(
            (keys[:, :, :length].clone(), values[:, :, :length].clone())
            for keys, values in self.layers
        )
        return TorchCache(length, first)


class TorchDecoder:
    """A decoder over any causal model of transformers. It computes one step at a time.

    To collect attention, transformers replaces the ``forward`` of the model's layers during a
    call, so concurrent calls would record each other's weights and restore each other's
    replacements.
    """

    def __init__(self, model: PreTrainedModel, *, gives_attention: bool) -> None:
        self._model = model
        self._forwards = [(module, vars(module).get("forward")) for module in model.modules()]
        self.gives_attention = gives_attention
        self.hidden_layers: int | None = getattr(model.config, "num_hidden_layers", None)
        # Rows of different lengths have their own positions.
        self.gives_batches = "position_ids" in inspect.signature(model.forward).parameters
        self.exclusive = threading.Lock()
        """Lock to hold while the model computes."""
        self._takes_masks = _sees_everything(model.config) and self._reads_masks()

    @property
    def network(self) -> PreTrainedModel:
        """The model of transformers."""
        return self._model

    def begin(self) -> TorchCache:
        """Return the empty cache."""
        return TorchCache(0, ())

    def step(self, ids: Sequence[int], cache: TorchCache) -> tuple[Array, TorchCache]:
        """Read more tokens and return the logits [vocabulary] and the new cache.

        Raises:
            DataCorrupt: the model's cache is not the keys and values of every token.
            Overloaded: the device is out of memory.
            BackendUnavailable: the model failed otherwise.
        """
        with self._stepping():
            read, after = self._read(ids, cache)
            return _numbers(read.logits[0, -1]), after

    def step_attending(
        self, ids: Sequence[int], cache: TorchCache
    ) -> tuple[Array, Array, TorchCache]:
        """As :meth:`step`, with last-layer attention [new tokens, all tokens] in between."""
        with self._stepping():
            read, after = self._read(ids, cache, output_attentions=True)
            weights = read.attentions[-1][0].double().mean(dim=0)
            return _numbers(read.logits[0, -1]), _numbers(weights), after

    def step_attended(self, ids: Sequence[int], cache: TorchCache) -> tuple[Array, TorchCache]:
        """Read more tokens; see :meth:`Decoder.step_attended`. Errors as :meth:`step`."""
        with self._stepping():
            read, after = self._read(ids, cache, output_attentions=True)
            return _numbers(read.attentions[-1][0].amax(dim=1)), after

    def step_with_state(
        self, ids: Sequence[int], cache: TorchCache, layer: int
    ) -> tuple[Array, Array, TorchCache]:
        """As :meth:`step`, with the last token's hidden state [size] in between."""
        with self._stepping():
            read, after = self._read(ids, cache, output_hidden_states=True)
            return _numbers(read.logits[0, -1]), _numbers(read.hidden_states[layer][0, -1]), after

    def step_whole(self, ids: Sequence[int], cache: TorchCache) -> tuple[Array, TorchCache]:
        """As :meth:`step`, with the logits [new tokens, vocabulary] after every token."""
        with self._stepping():
            read, after = self._read(ids, cache)
            return _numbers(read.logits[0]), after

    def open_batch(self) -> RowBatch[TorchCache]:
        """Return an empty batch of texts. Its steps raise errors as :meth:`step`."""
        return RowBatch(_Tensors(self))

    def read_rows(self, inputs: Inputs, *, attention: bool) -> Outputs:
        """Read a token of every row of a batch."""
        layers = tuple(zip(inputs.tensors[::2], inputs.tensors[1::2], strict=True))
        with self._stepping():
            read = self._model(
                input_ids=self._moved(inputs.ids),
                attention_mask=self._row_mask(inputs.mask),
                position_ids=self._moved(inputs.positions),
                past_key_values=_past(layers),
                use_cache=True,
                **({"output_attentions": True} if attention else {}),
            )
            after = _layers(read.past_key_values, inputs.mask.shape[1])
            weights = read.attentions[-1][:, :, -1].double().mean(dim=1) if attention else None
            return Outputs(
                _numbers(read.logits[:, -1]),
                tuple(tensor for layer in after for tensor in layer),
                None if weights is None else _numbers(weights),
            )

    @contextmanager
    def _stepping(self) -> Iterator[None]:
        """The model to this thread alone; a failure of PyTorch or transformers as a condition."""
        with self.exclusive, torch.inference_mode():
            try:
                yield
            except ScaarError:
                raise
            except torch.OutOfMemoryError as error:
                self._restore()
                text = f"the device is out of memory at a step of {self._model.name_or_path}"
                raise Overloaded(text) from error
            except Exception as error:  # a model's own code may raise anything
                self._restore()
                _LOGGER.exception("a step of %s failed", self._model.name_or_path)
                text = f"a step of {self._model.name_or_path} failed: {type(error).__name__}"
                raise BackendUnavailable(text) from error

    def _restore(self) -> None:
        """Restore the layers' ``forward``, which transformers leaves replaced after a failure."""
        for module, forward in self._forwards:
            if forward is None:
                vars(module).pop("forward", None)
            else:
                vars(module)["forward"] = forward

    def _read(self, ids: Sequence[int], cache: TorchCache, **more: bool) -> tuple[Any, TorchCache]:
        """Return the model's output for more tokens, and the new cache."""
        total = cache.length + len(ids)
        read = self._model(
            input_ids=self._tensor(ids),
            attention_mask=self._mask(len(ids), total),
            past_key_values=_past(cache.layers),
            use_cache=True,
            **more,
        )
        return read, TorchCache(total, _layers(read.past_key_values, total))

    def _mask(self, new: int, total: int) -> torch.Tensor:
        """Return the mask of new tokens, each of which sees the tokens before it."""
        if not self._takes_masks:
            return torch.ones((1, total), dtype=torch.long, device=self._model.device)
        hidden = torch.full((new, total), self._hidden, dtype=self._model.dtype)
        return hidden.triu(total - new + 1)[None, None].to(self._model.device)

    def _row_mask(self, real: Array) -> torch.Tensor:
        """Return the mask of one new token of each row, which sees the real tokens of its row."""
        if not self._takes_masks:
            return self._moved(real)
        seen = torch.from_numpy(real != 0)[:, None, None]
        hidden = torch.tensor(self._hidden, dtype=self._model.dtype)
        return torch.where(seen, hidden.new_zeros(()), hidden).to(self._model.device)

    @property
    def _hidden(self) -> float:
        return float(torch.finfo(self._model.dtype).min)

    def _reads_masks(self) -> bool:
        """Return whether the model computes the same with a mask [rows, 1, new, all] as without.

        transformers builds such a mask at every step, in several times the time of a small
        model's step.
        """
        ids = [each % self._model.config.vocab_size for each in (3, 5, 7, 11)]
        found = []
        for takes in (False, True):
            self._takes_masks = takes
            try:
                with torch.inference_mode():
                    _, cache = self._read(ids[:2], self.begin())
                    read, _ = self._read(ids[2:], cache)
            except Exception:  # a model's own code may raise anything
                _LOGGER.debug("no step with a mask of its own", exc_info=True)
                return False
            found.append(read.logits.float())
        return bool(torch.allclose(*found, rtol=1e-2, atol=1e-2))

    def _tensor(self, ids: Sequence[int]) -> torch.Tensor:
        return torch.tensor([list(ids)], dtype=torch.long, device=self._model.device)

    def _moved(self, numbers: Array) -> torch.Tensor:
        return torch.from_numpy(numbers).to(self._model.device)


class _Tensors:
    """Tensors of a batch: keys and values of each layer in turn."""

    def __init__(self, decoder: TorchDecoder) -> None:
        self._decoder = decoder

    def unpack(self, cache: TorchCache) -> tuple[torch.Tensor, ...]:
        return tuple(tensor for layer in cache.layers for tensor in layer)

    def pack(self, length: int, tensors: tuple[torch.Tensor, ...]) -> TorchCache:
        copies = [tensor.clone() for tensor in tensors]
        return TorchCache(length, tuple(zip(copies[::2], copies[1::2], strict=True)))

    def zeros(self, shape: Sequence[int], like: torch.Tensor) -> torch.Tensor:
        return like.new_zeros(tuple(shape))

    def join(self, tensors: Sequence[torch.Tensor], axis: int) -> torch.Tensor:
        return torch.cat(tuple(tensors), axis)

    def run(self, inputs: Inputs, *, attention: bool) -> Outputs:
        return self._decoder.read_rows(inputs, attention=attention)


def _sees_everything(config: Any) -> bool:
    """Return whether every token sees all tokens before it, as far as the configuration says."""
    window = getattr(config, "sliding_window", None)
    if window is not None and getattr(config, "use_sliding_window", True):
        return False
    kinds = set(getattr(config, "layer_types", None) or ())
    return kinds <= {"full_attention"} and not getattr(config, "attention_chunk_size", None)


def _past(layers: _Layers) -> DynamicCache:
    past = DynamicCache()
    for number, (keys, values) in enumerate(layers):
        past.update(keys, values, number)
    return past


def _layers(cache: Any, length: int) -> _Layers:
    found = getattr(cache, "layers", None)
    layers = tuple((layer.keys, layer.values) for layer in found or ())
    if not layers or any(keys.shape[-2] != length for keys, _ in layers):
        raise DataCorrupt(
            "the model does not cache keys and values of every token, so it cannot continue texts; "
            "run it on TGI or an OpenAI-compatible server"
        )
    return layers


def _numbers(tensor: torch.Tensor) -> Array:
    if tensor.dtype in (torch.bfloat16, torch.float16):
        tensor = tensor.float()
    return np.asarray(tensor.cpu().numpy())
