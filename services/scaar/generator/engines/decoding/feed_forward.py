"""The gradient of a text's loss by the feed-forward weights of a model's last layers."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from scaar.core.errors import DataCorrupt, InvalidRequest, PromptTooLong, ScaarError
from scaar.generator.engines.decoding.language_model import LanguageModel

LAYERS = 4
"""How many of the last layers are looked at (GECE); all of a model that has fewer."""
_FEED_FORWARD = ("mlp", "feed_forward", "ffn", "block_sparse_moe", "fc1", "fc2")
"""What transformers' models call the feed-forward part of a layer."""


class FeedForwardGradients:
    """Gives gradients of one model; no other of its weights is differentiated by."""

    def __init__(
        self,
        model: LanguageModel,
        network: Any,
        *,
        layers: int = LAYERS,
        exclusive: AbstractContextManager[object] | None = None,
    ) -> None:
        """``network`` is what the model's decoder computes by, a causal model of transformers.

        ``exclusive`` is held while it computes, for a network that something else computes with.

        Raises:
            DataCorrupt: its layers, or the feed-forward part of one, are not found.
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

    def gradient(self, prompt: str, begun: str, reference: str) -> tuple[NDArray[np.float32], ...]:
        """The gradient of the reference's negative log-likelihood, a token's on average.

        Raises:
            PromptTooLong: the model has no room for all of it.
            InvalidRequest: the reference has no token.
            ScaarError: a number in it is not finite.
        """
        loss = self.loss(prompt, begun, reference)
        found = torch.autograd.grad(loss, self._weights, materialize_grads=True)
        if not all(bool(torch.isfinite(each).all()) for each in found):
            text = "a gradient is not finite: the model computes with numbers too short for it"
            raise ScaarError(f"{text} (SCAAR_GENERATOR_DTYPE)")
        return tuple(np.asarray(each.float().cpu().numpy()) for each in found)

    def loss(self, prompt: str, begun: str, reference: str) -> Any:
        """The reference's negative log-likelihood, a token's on average, to differentiate."""
        before = self._model.encode(prompt, begun)
        ids = self._model.encode(prompt, f"{begun} {reference}")
        if len(ids) > self._model.max_total_tokens:
            most = self._model.max_total_tokens
            text = f"with its reference it has {len(ids)} tokens, and the model takes {most}"
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
    """How many tokens the two begin with alike; at least one, which predicts the next."""
    for number, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return max(1, number)
    return max(1, min(len(first), len(second)))


def _feed_forward(name: str, network: Any, layers: int) -> Iterator[tuple[str, Any]]:
    """The weights by name, of the last layers in their order."""
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
