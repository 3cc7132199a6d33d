"""A causal language model in PyTorch, one step at a time, with its key-value cache."""

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

_LOGGER = logging.getLogger(__name__)

_Layers = tuple[tuple[torch.Tensor, torch.Tensor], ...]


@dataclass(frozen=True, slots=True)
class TorchCache:
    """Keys and values [1, heads, tokens, head size] of each layer, of the tokens that were read.

    Nothing changes the tensors, so several generations may go on from one cache.
    """

    length: int
    layers: _Layers

    @property
    def size_bytes(self) -> int:
        """What the tensors take in memory."""
        return sum(tensor.nbytes for layer in self.layers for tensor in layer)

    def cut(self, length: int) -> "TorchCache":
        """The cache of the first tokens only; it holds on to no more memory than theirs."""
        if length == self.length:
            return self
        first = tuple(
            (keys[:, :, :length].clone(), values[:, :, :length].clone())
            for keys, values in self.layers
        )
        return TorchCache(length, first)


class TorchDecoder:
    """A decoder over any causal model of transformers, which computes one step at a time.

    To collect attention, transformers replaces the ``forward`` of the model's layers for the time
    of a call, so two calls at once would record each other's weights and put back each other's
    replacements.
    """

    def __init__(self, model: PreTrainedModel, *, gives_attention: bool) -> None:
        self._model = model
        self._forwards = [(module, vars(module).get("forward")) for module in model.modules()]
        self.gives_attention = gives_attention
        self.exclusive = threading.Lock()
        """Held while the model computes, by whatever else computes with it too."""

    @property
    def network(self) -> PreTrainedModel:
        """What computes."""
        return self._model

    def begin(self) -> TorchCache:
        """The cache of a decoder that has read nothing."""
        return TorchCache(0, ())

    def step(self, ids: Sequence[int], cache: TorchCache) -> tuple[Array, TorchCache]:
        """The logits [vocabulary] after reading tokens beyond the cache's, and the cache with them.

        Raises:
            DataCorrupt: the model keeps something other than keys and values of every token.
            Overloaded: the device has no memory left.
            BackendUnavailable: the model fails in any other way.
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
                told = f"the device has no memory left for a step of {self._model.name_or_path}"
                raise Overloaded(told) from error
            except Exception as error:  # a model's own code may raise anything
                self._restore()
                _LOGGER.exception("a step of %s failed", self._model.name_or_path)
                told = f"a step of {self._model.name_or_path} failed: {type(error).__name__}"
                raise BackendUnavailable(told) from error

    def _restore(self) -> None:
        """Undo what transformers does not when a call fails: the layers' ``forward`` replaced."""
        for module, forward in self._forwards:
            if forward is None:
                vars(module).pop("forward", None)
            else:
                vars(module)["forward"] = forward

    def _read(self, ids: Sequence[int], cache: TorchCache, **asked: bool) -> tuple[Any, TorchCache]:
        """What the model gives for tokens beyond the cache's, and the cache with them."""
        total = cache.length + len(ids)
        past = DynamicCache()
        for number, (keys, values) in enumerate(cache.layers):
            past.update(keys, values, number)
        read = self._model(
            input_ids=self._tensor(ids),
            attention_mask=torch.ones((1, total), dtype=torch.long, device=self._model.device),
            past_key_values=past,
            use_cache=True,
            **asked,
        )
        return read, TorchCache(total, _layers(read.past_key_values, total))

    def _tensor(self, ids: Sequence[int]) -> torch.Tensor:
        return torch.tensor([list(ids)], dtype=torch.long, device=self._model.device)


def _layers(cache: Any, length: int) -> _Layers:
    found = getattr(cache, "layers", None)
    layers = tuple((layer.keys, layer.values) for layer in found or ())
    if not layers or any(keys.shape[-2] != length for keys, _ in layers):
        raise DataCorrupt(
            "the model does not keep keys and values of every token, so that no text can be gone "
            "on with; serve it by TGI or an OpenAI-compatible server"
        )
    return layers


def _numbers(tensor: torch.Tensor) -> Array:
    if tensor.dtype in (torch.bfloat16, torch.float16):
        tensor = tensor.float()
    return np.asarray(tensor.cpu().numpy())
