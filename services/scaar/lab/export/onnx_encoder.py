"""ONNX graphs of BERT encoders, with the tensor names of Optimum's exports.

Inputs, with batch b and tokens n: ``input_ids``, ``attention_mask``, ``token_type_ids``, each
int64 [b, n]. Output of a cross-encoder: ``logits`` float32 [b, 1], whose sigmoid is the similarity
f of the pair; of a sentence encoder of width w: ``last_hidden_state`` float32 [b, n, w].
"""

import math
from typing import Any

from scaar.lab.export.onnx_graph import BOOL, FLOAT, INT64, OnnxGraph
from scaar.lab.shapes import EncoderShape

BATCH, TOKENS = "batch_size", "sequence_length"
HIDDEN_SCORE = -1e9


def encoder_graph(params: dict[str, Any], shape: EncoderShape) -> bytes:
    """Return the ONNX model of a cross-encoder. Equal parameters give equal bytes."""
    graph = _EncoderGraph("cross_encoder", shape)
    graph.output("logits", FLOAT, [BATCH, 1])
    first = graph.do("Gather", graph.hidden(params), graph.integer(0), axis=1)
    pooled = graph.linear(first, *graph.weights(params, "pooler"))
    classifier = graph.weights(params, "classifier")
    scores = graph.do("MatMul", graph.do("Tanh", pooled), classifier[0])
    graph.do("Add", scores, classifier[1], name="logits")
    return graph.to_bytes()


def sentence_encoder_graph(params: dict[str, Any], shape: EncoderShape) -> bytes:
    """Return the ONNX model of a sentence encoder, with compact matrices.

    Equal parameters give equal bytes.
    """
    graph = _EncoderGraph("sentence_encoder", shape, compact=True)
    graph.output("last_hidden_state", FLOAT, [BATCH, TOKENS, shape.hidden_size])
    graph.do("Identity", graph.hidden(params), name="last_hidden_state")
    return graph.to_bytes()


class _EncoderGraph(OnnxGraph):
    def __init__(self, name: str, shape: EncoderShape, *, compact: bool = False) -> None:
        super().__init__(name, compact=compact)
        self.shape = shape

    def hidden(self, params: dict[str, Any]) -> str:
        """Add the inputs and all layers. Return the hidden states of the last one."""
        ids, mask, types = (
            self.input(name, INT64, [BATCH, TOKENS])
            for name in ("input_ids", "attention_mask", "token_type_ids")
        )
        real = self.do("Unsqueeze", self.do("Cast", mask, to=BOOL), self.integers(1, 2))
        hidden = self._embedding(params, ids, types)
        for number, layer in enumerate(params["layers"]):
            hidden = self._layer(hidden, layer, number, real)
        return hidden

    def weights(self, params: dict[str, Any], name: str, prefix: str = "") -> tuple[str, str]:
        """Add a matrix and its bias."""
        bias = f"{name}_bias"
        return (
            self.weight(f"{prefix}{name}", params[name]),
            self.weight(f"{prefix}{bias}", params[bias]),
        )

    def _norm(self, hidden: str, params: dict[str, Any], name: str) -> str:
        scale = self.weight(f"{name}.scale", params["scale"])
        bias = self.weight(f"{name}.bias", params["bias"])
        epsilon = self.shape.layer_norm_eps
        return self.do("LayerNormalization", hidden, scale, bias, axis=-1, epsilon=epsilon)

    def _embedding(self, params: dict[str, Any], ids: str, types: str) -> str:
        count = self.do("Shape", ids, start=1, end=2)
        places = self.weight("position_embed", params["position_embed"])
        places = self.do("Slice", places, self.integers(0), count, self.integers(0))
        words = self.do("Gather", self.weight("word_embed", params["word_embed"]), ids)
        halves = self.do("Gather", self.weight("type_embed", params["type_embed"]), types)
        together = self.do("Add", self.do("Add", words, places), halves)
        return self._norm(together, params["embed_norm"], "embed_norm")

    def _layer(self, hidden: str, layer: dict[str, Any], number: int, real: str) -> str:
        prefix = f"layers.{number}."
        q, k, v = (
            self._heads(self.linear(hidden, *self.weights(layer, name, prefix))) for name in "qkv"
        )
        mixed = self.linear(self._attention(q, k, v, real), *self.weights(layer, "o", prefix))
        hidden = self._norm(
            self.do("Add", hidden, mixed), layer["attention_norm"], f"{prefix}attention_norm"
        )
        inner = self._gelu(self.linear(hidden, *self.weights(layer, "up", prefix)))
        inner = self.linear(inner, *self.weights(layer, "down", prefix))
        return self._norm(
            self.do("Add", hidden, inner), layer["output_norm"], f"{prefix}output_norm"
        )

    def _heads(self, rows: str) -> str:
        heads = self.shape.num_attention_heads
        size = self.integers(0, 0, heads, self.shape.hidden_size // heads)
        return self.do("Transpose", self.do("Reshape", rows, size), perm=[0, 2, 1, 3])

    def _attention(self, q: str, k: str, v: str, real: str) -> str:
        size = self.shape.hidden_size // self.shape.num_attention_heads
        products = self.do("MatMul", q, self.do("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.do("Div", products, self.number(math.sqrt(size)))
        allowed = self.do("Where", real, scores, self.number(HIDDEN_SCORE))
        mixed = self.do("MatMul", self.do("Softmax", allowed, axis=-1), v)
        rows = self.do("Transpose", mixed, perm=[0, 2, 1, 3])
        return self.do("Reshape", rows, self.integers(0, 0, self.shape.hidden_size))

    def _gelu(self, x: str) -> str:
        """Apply the exact GELU, x * (1 + erf(x / sqrt 2)) / 2."""
        erf = self.do("Erf", self.do("Div", x, self.number(math.sqrt(2))))
        doubled = self.do("Mul", x, self.do("Add", erf, self.number(1.0)))
        return self.do("Mul", doubled, self.number(0.5))
