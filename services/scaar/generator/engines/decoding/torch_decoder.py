"""A causal language model in PyTorch, one step at a time, with its key-value cache."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import DynamicCache, PreTrainedModel

from scaar.core.errors import DataCorrupt
from scaar.generator.engines.decoding.decoder import Array

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
    """A decoder over any causal model of transformers."""

    def __init__(self, model: PreTrainedModel, *, gives_attention: bool) -> None:
        self._model = model
        self.gives_attention = gives_attention

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
        """
        with torch.inference_mode():
            read, after = self._read(ids, cache)
            return _numbers(read.logits[0, -1]), after

    def step_attending(
        self, ids: Sequence[int], cache: TorchCache
    ) -> tuple[Array, Array, TorchCache]:
        """As :meth:`step`, with last-layer attention [new tokens, all tokens] in between."""
        with torch.inference_mode():
            read, after = self._read(ids, cache, output_attentions=True)
            weights = read.attentions[-1][0].double().mean(dim=0)
            return _numbers(read.logits[0, -1]), _numbers(weights), after

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
