"""Gradient of a text's loss by the feed-forward weights of a model's last layers."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from scaar.core.errors import DataCorrupt, InvalidRequest, PromptTooLong, ScaarError
from scaar.generator.engines.decoding.language_model import LanguageModel

LAYERS = 4
"""Number of last layers whose gradients are computed (GECE); all if the model has fewer."""
_FEED_FORWARD = ("mlp", "feed_forward", "ffn", "block_sparse_moe", "fc1", "fc2")
"""Names of the feed-forward part of a layer in transformers' models."""


class FeedForwardGradients:
    """Gradients of one model by its feed-forward weights only."""

    def __init__(
        self,
        model: LanguageModel,
        network: Any,
        *,
        layers: int = LAYERS,
        exclusive: AbstractContextManager[object] | None = None,
    ) -> None:
        """``network`` is the causal model of transformers behind the model's decoder.

        ``exclusive`` is held during computation, for a network that is shared.

        Raises:
            DataCorrupt: the layers, or the feed-forward part of a layer, are not found.
        """
        self._model = model
        self._network = network
        self._exclusive = exclusive or nullcontext()
        found = dict(_feed_forward(model.name, network, layers))
        network.requires_grad_(False)
        for weight in found.values():
            weight.requires_grad_(True)
        self.weights = tuple(found)
        self._weights = tuple(found.values())

    def gradient(self, prompt: str, prefix: str, reference: str) -> tuple[NDArray[np.float32], ...]:
        """Return the gradient of the reference's mean negative log-likelihood per token.

        Raises:
            PromptTooLong: prompt and reference exceed the model's context.
            InvalidRequest: the reference has no token.
            ScaarError: the gradient is not finite.
        """
        loss = self.loss(prompt, prefix, reference)
        found = torch.autograd.grad(loss, self._weights, materialize_grads=True)
        if not all(bool(torch.isfinite(each).all()) for each in found):
            text = "a gradient is not finite: the precision of the model's numbers is too low"
            raise ScaarError(f"{text}; set SCAAR_GENERATOR_DTYPE=float32")
        return tuple(np.asarray(each.float().cpu().numpy()) for each in found)

    def loss(self, prompt: str, prefix: str, reference: str) -> Any:
        """Return the reference's mean negative log-likelihood per token, as a tensor."""
        before = self._model.encode(prompt, prefix)
        ids = self._model.encode(prompt, f"{prefix} {reference}")
        if len(ids) > self._model.max_total_tokens:
            limit = self._model.max_total_tokens
            text = f"must be at most {limit} tokens with its reference, not {len(ids)}"
            raise PromptTooLong.of("prompt", text)
        first = _in_common(before, ids)
        if first == len(ids):
            raise InvalidRequest.of("reference", f"{reference!r} has no token")
        tensor = torch.tensor([ids], dtype=torch.long, device=self._network.device)
        with self._exclusive:
            logits = self._network(input_ids=tensor, use_cache=False).logits[0, first - 1 : -1]
        exact = logits.to(torch.promote_types(logits.dtype, torch.float32))
        return torch.nn.functional.cross_entropy(exact, tensor[0, first:])


def _in_common(first: list[int], second: list[int]) -> int:
    """Return the length of the common prefix, at least 1, since one token predicts the next."""
    for number, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return max(1, number)
    return max(1, min(len(first), len(second)))


def _feed_forward(name: str, network: Any, layers: int) -> Iterator[tuple[str, Any]]:
    """Yield the weights of the last layers in order, by name."""
    depth = getattr(network.config, "num_hidden_layers", 0)
    stacks = [
        (at, module)
        for at, module in network.named_modules()
        if isinstance(module, torch.nn.ModuleList) and len(module) == depth
    ]
    if not stacks:
        raise DataCorrupt(f"{name}: its {depth} layers are not found, so it gives no gradients")
    at, stack = stacks[0]
    for number in range(max(0, depth - layers), depth):
        parts = [
            (part, module)
            for part, module in stack[number].named_children()
            if part in _FEED_FORWARD
        ]
        if not parts:
            known = ", ".join(_FEED_FORWARD)
            raise DataCorrupt(f"{name}: layer {number} has no feed-forward part ({known})")
        for part, module in parts:
            for weight, parameter in module.named_parameters():
                yield f"{at}.{number}.{part}.{weight}", parameter
