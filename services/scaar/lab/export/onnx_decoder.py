"""ONNX graph of the language model, in Optimum's convention for decoders with a cache.

Inputs, with batch b, new tokens n, past tokens p (0 is fine), heads h, head size s::

    input_ids [b, n]   attention_mask [b, p + n]   position_ids [b, n]       int64
    past_key_values.{layer}.key, .value [b, h, p, s]                         float32

Outputs::

    logits [b, n, vocabulary]   present.{layer}.key, .value [b, h, p + n, s]
    last_attention [b, h, n, p + n]     of the last layer; not in Optimum's own exports
"""

import math
from typing import Any

from scaar.lab.export.onnx_graph import BOOL, FLOAT, INT64, OnnxGraph
from scaar.lab.shapes import DecoderShape

BATCH, NEW, PAST, TOTAL = "batch_size", "sequence_length", "past_sequence_length", "total_length"
HIDDEN_SCORE = -1e9
"""Attention score of a masked token, as in training."""


def decoder_graph(params: dict[str, Any], shape: DecoderShape) -> bytes:
    """Return the ONNX model of the parameters. Equal parameters give equal bytes."""
    return DecoderGraph(params, shape).to_bytes()


class DecoderGraph(OnnxGraph):
    """The graph, and the names of its hidden states."""

    def __init__(self, params: dict[str, Any], shape: DecoderShape) -> None:
        super().__init__("decoder")
        self.shape = shape
        heads, size = shape.num_attention_heads, shape.head_size
        ids = self.input("input_ids", INT64, [BATCH, NEW])
        mask = self.input("attention_mask", INT64, [BATCH, TOTAL])
        positions = self.input("position_ids", INT64, [BATCH, NEW])
        cache = [
            tuple(
                self.input(f"past_key_values.{layer}.{part}", FLOAT, [BATCH, heads, PAST, size])
                for part in ("key", "value")
            )
            for layer in range(shape.num_hidden_layers)
        ]
        self.output("logits", FLOAT, [BATCH, NEW, shape.vocab_size])
        for layer in range(shape.num_hidden_layers):
            for part in ("key", "value"):
                self.output(f"present.{layer}.{part}", FLOAT, [BATCH, heads, TOTAL, size])
        self.output("last_attention", FLOAT, [BATCH, heads, NEW, TOTAL])

        self.seen = self._seen(ids, mask)
        self.cos, self.sin = self._rotation(positions)
        embed = self.weight("embed", params["embed"])
        hidden = self.do("Gather", embed, ids)
        states = [hidden]
        for number, (layer, past) in enumerate(zip(params["layers"], cache, strict=True)):
            hidden = self._layer(hidden, layer, number, past)
            states.append(hidden)
        hidden = self._norm(hidden, self.weight("norm", params["norm"]))
        self.hidden_states = (*states[:-1], hidden)
        """Names of the embeddings and of the state of each layer, the last one normalised."""
        self.do("MatMul", hidden, self.do("Transpose", embed, perm=[1, 0]), name="logits")

    def _seen(self, ids: str, mask: str) -> str:
        """Return the attention mask of the new tokens, [b, 1, n, p + n]."""
        new = self.do("Gather", self.do("Shape", ids), self.integer(1))
        total = self.do("Gather", self.do("Shape", mask), self.integer(1))
        past = self.do("Sub", total, new)
        one = self.integer(1)
        candidates = self.do("Range", self.integer(0), total, one)
        seekers = self.do("Unsqueeze", self.do("Range", past, total, one), self.integers(1))
        earlier = self.do("LessOrEqual", candidates, seekers)
        real = self.do("Unsqueeze", self.do("Cast", mask, to=BOOL), self.integers(1, 2))
        return self.do("And", real, earlier)

    def _rotation(self, positions: str) -> tuple[str, str]:
        """Return cosine and sine of the new tokens' rotary angles, each [b, 1, n, s]."""
        frequencies = self.weight("frequencies", self.shape.frequencies())
        numbers = self.do("Cast", positions, to=FLOAT)
        angles = self.do("Mul", self.do("Unsqueeze", numbers, self.integers(1, 3)), frequencies)
        both = self.do("Concat", angles, angles, axis=-1)
        return self.do("Cos", both), self.do("Sin", both)

    def _norm(self, hidden: str, weight: str) -> str:
        square = self.do("ReduceMean", self.do("Mul", hidden, hidden), axes=[-1], keepdims=1)
        spread = self.do("Sqrt", self.do("Add", square, self.number(self.shape.rms_norm_eps)))
        return self.do("Mul", self.do("Div", hidden, spread), weight)

    def _turn(self, heads: str) -> str:
        half = self.shape.head_size // 2
        first = self.do("Slice", heads, self.integers(0), self.integers(half), self.integers(-1))
        second = self.do(
            "Slice", heads, self.integers(half), self.integers(2 * half), self.integers(-1)
        )
        turned = self.do("Concat", self.do("Neg", second), first, axis=-1)
        straight = self.do("Mul", heads, self.cos)
        return self.do("Add", straight, self.do("Mul", turned, self.sin))

    def _layer(self, hidden: str, layer: dict[str, Any], number: int, past: tuple[str, ...]) -> str:
        def weight(name: str) -> str:
            return self.weight(f"layers.{number}.{name}", layer[name])

        z = self._norm(hidden, weight("attention_norm"))
        q, k, v = (
            self._heads(self.linear(z, weight(name), weight(f"{name}_bias"))) for name in "qkv"
        )
        mixed = self._attention(self._turn(q), self._turn(k), v, number, past)
        hidden = self.do("Add", hidden, self.linear(mixed, weight("o")))
        z = self._norm(hidden, weight("feed_forward_norm"))
        gate = self.linear(z, weight("gate"))
        swish = self.do("Mul", gate, self.do("Sigmoid", gate))
        inner = self.do("Mul", swish, self.linear(z, weight("up")))
        return self.do("Add", hidden, self.linear(inner, weight("down")))

    def _heads(self, rows: str) -> str:
        size = self.integers(0, 0, self.shape.num_attention_heads, self.shape.head_size)
        return self.do("Transpose", self.do("Reshape", rows, size), perm=[0, 2, 1, 3])

    def _attention(self, q: str, k: str, v: str, number: int, past: tuple[str, ...]) -> str:
        keys = self.do("Concat", past[0], k, axis=2, name=f"present.{number}.key")
        values = self.do("Concat", past[1], v, axis=2, name=f"present.{number}.value")
        products = self.do("MatMul", q, self.do("Transpose", keys, perm=[0, 1, 3, 2]))
        scores = self.do("Div", products, self.number(math.sqrt(self.shape.head_size)))
        allowed = self.do("Where", self.seen, scores, self.number(HIDDEN_SCORE))
        last = number == self.shape.num_hidden_layers - 1
        weights = self.do("Softmax", allowed, axis=-1, name="last_attention" if last else "")
        mixed = self.do("Transpose", self.do("MatMul", weights, values), perm=[0, 2, 1, 3])
        return self.do("Reshape", mixed, self.integers(0, 0, self.shape.hidden_size))
